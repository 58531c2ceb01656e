import Foundation
import MillpondCore

/// The lock on a folder, which keeps other processes out.
enum FolderLock: Sendable {
  case none

  /// The folder can only be read and has no lock file, so no other process can write either.
  case unlockable

  /// The locked file, and its identity if that is known.
  case lock(OpenFile, FileIdentity?)

  /// Takes the lock at `path`.
  ///
  /// - Throws: `CacheError.inUse(layer:)` if another process has it.
  init(_ path: String, _ files: FileSystem) throws {
    let file: OpenFile
    do {
      file = try files.open(path, .sharing)
    } catch let error as POSIXError where error.isRefusalToWrite {
      do {
        file = try files.open(path, .reading)
      } catch let error as POSIXError where error.code == .ENOENT {
        self = .unlockable
        return
      }
    }
    do {
      guard try file.lock() else {
        throw CacheError.inUse(diskFolder: (path as NSString).deletingLastPathComponent)
      }
    } catch let error as POSIXError where error.isRefusalToLock {
      // A volume without locks.
    }
    self = .lock(file, try? file.status().identity)
  }

  func release() {
    guard case .lock(let file, _) = self else { return }
    file.unlock()
    try? file.close()
  }
}

extension POSIXError {
  /// Whether the file can only be read.
  var isRefusalToWrite: Bool { code == .EACCES || code == .EROFS || code == .EPERM }

  fileprivate var isRefusalToLock: Bool {
    code == .EOPNOTSUPP || code == .ENOLCK || code == .ENOSYS
      || code == .EINVAL
  }
}
