public import Foundation
import MillpondCore

/// A failure of a disk cache or of a value for it.
///
/// ``tooLarge(folder:key:byteCount:limit:)`` arrives by itself, since it is no failure of the layer;
/// the others are the underlying error of a `CacheError.unavailable(layer:underlying:)`. Keys are
/// named without the secrets of URLs in them.
public enum DiskError: Error, Sendable {
  /// A call to the system failed in the folder; the key is nil if the failure concerns all keys.
  case failed(folder: String, key: String?, underlying: any Error)

  /// The value takes more bytes on disk than the cache may hold; the value stored before stays.
  ///
  /// `byteCount` includes the room that the log needs, a quarter of a value below 64 KiB, and `limit`
  /// is what remains of the cache's `byteLimit` without that of the log for new values. Give the
  /// cache at least a third more than the value, and a kilobyte.
  case tooLarge(folder: String, key: String, byteCount: Int, limit: Int)

  /// A newer version of this library has written the folder, which stays as it is: its format has
  /// the number `version`, and this one reads none above `supported`.
  case newerFormat(folder: String, version: Int, supported: Int)

  /// The cache of the folder was closed.
  case closed(folder: String)

  static func of(_ error: any Error, folder: String, key: String? = nil) -> any Error {
    if error is CacheError || error is DiskError { return error }
    return DiskError.failed(
      folder: folder, key: key.map { String(withoutSecrets: $0) }, underlying: error)
  }

  /// The failure of a value that takes `byteCount` bytes on disk.
  static func tooLarge(_ key: String, _ byteCount: Int, in folder: String, limit: Int) -> DiskError
  {
    .tooLarge(
      folder: folder, key: String(withoutSecrets: key), byteCount: byteCount, limit: max(0, limit))
  }
}

extension DiskError: LocalizedError, CustomStringConvertible {
  /// The folder, the key, and the reason.
  public var description: String {
    switch self {
    case .failed(let folder, let key, let underlying):
      let subject = key.map { "the key \($0.debugDescription) in " } ?? ""
      return "the disk cache failed for \(subject)\(folder): \(underlying)"
    case .tooLarge(let folder, let key, let byteCount, let limit):
      return
        "the value for \(key.debugDescription) takes \(byteCount) bytes on disk, and the cache in "
        + "\(folder) holds \(limit) (raise its byteLimit)"
    case .newerFormat(let folder, let version, let supported):
      return
        "the folder \(folder) has version \(version) of the disk cache's format, and this library "
        + "reads \(supported) (update it, or use another folder)"
    case .closed(let folder): return "the disk cache in \(folder) has been closed"
    }
  }

  /// The description.
  public var errorDescription: String? { description }
}

extension CacheError {
  static let diskLayer = "disk"

  /// The failure of a disk cache whose folder others use.
  static func inUse(diskFolder path: String) -> CacheError {
    .inUse(layer: "\(diskLayer) in \(path)")
  }

  /// Wraps a failure as one of the disk layer.
  init(disk error: any Error) {
    self = error as? CacheError ?? .unavailable(layer: Self.diskLayer, underlying: error)
  }

  /// Returns a failure in a folder as one of the disk layer; that a value is too large is none.
  static func failure(disk error: any Error, _ folder: Folder, key: String) -> any Error {
    if case DiskError.tooLarge = error { error } else { CacheError(disk: error, folder, key: key) }
  }

  /// Wraps a failure in a folder as one of the disk layer.
  init(disk error: any Error, _ folder: Folder, key: String? = nil) {
    self.init(disk: DiskError.of(error, folder: folder.path, key: key))
  }
}
