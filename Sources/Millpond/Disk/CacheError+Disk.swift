import MillpondCore

extension CacheError {
  static let diskLayer = "disk"

  /// What the disk layer says of a failure.
  init(disk error: any Error) {
    self = error as? CacheError ?? .unavailable(layer: Self.diskLayer, underlying: error)
  }
}

/// Why a cache that was closed can't be asked.
struct CacheClosed: Error, CustomStringConvertible {
  var description: String { "it has been closed" }
}
