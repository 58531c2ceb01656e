import MillpondCore

extension CacheError {
  static let diskLayer = "disk"

  /// The disk layer's account of a failure.
  init(disk error: any Error) {
    self = error as? CacheError ?? .unavailable(layer: Self.diskLayer, underlying: error)
  }

  /// The disk layer's account of a failure in a folder.
  init(disk error: any Error, _ folder: Folder, key: String? = nil) {
    self.init(disk: DiskError.of(error, folder: folder.path, key: key))
  }
}
