import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// The folder of a store, which a locked file in it reserves for this process.
final class Folder: Sendable {
  static let lockName = "millpond.lock"

  let path: String
  let files: FileSystem
  private let protection: DiskProtection
  private let lock = Locked(FolderLock.none)

  init(
    path: String, _ files: FileSystem, _ protection: DiskProtection = .afterFirstUnlock
  ) {
    self.path = path
    self.files = files
    self.protection = protection
  }

  deinit { letGo() }

  @inline(never)
  func path(of fileName: String) -> String { "\(path)/\(fileName)" }

  func path(of file: FileName) -> String { path(of: file.text) }

  /// Returns the names of the store's files; others are left out.
  func fileNames() throws -> [FileName] {
    try files.namesInFolder(path).compactMap { FileName($0) }
  }

  func open(_ file: FileName, _ access: FileAccess) throws -> OpenFile {
    try files.open(path(of: file), access)
  }

  /// Opens a regular file, with its size; nil if there is none of this name.
  ///
  /// - Throws: Errors that say nothing about the file, such as too many open files, or a locked
  ///   device.
  func openRegular(_ name: FileName, _ access: FileAccess) throws -> (file: OpenFile, size: Int)? {
    do {
      let file = try open(name, access)
      let status = try file.status()
      guard status.isRegular else { return nil }
      return (file, status.size)
    } catch let error as POSIXError {
      switch error.code {
      // Missing; a link; a folder; a device or socket that can't be opened.
      case .ENOENT, .ENOTDIR, .ELOOP, .EISDIR, .ENXIO, .ENODEV, .EOPNOTSUPP: return nil
      default: throw error
      }
    }
  }

  @inline(never)
  func remove(_ file: FileName) throws { try files.remove(path(of: file)) }

  /// Makes the folder if needed, and takes its lock.
  ///
  /// - Throws: `CacheError.inUse(layer:)` if another process has it; the system's error if it
  ///   can't be made.
  func take() throws {
    try files.makeFolder(path)
    // If the class is not available, as on a volume without classes, the cache still works.
    try? protection.apply(to: path)
    exchange(for: try FolderLock(path(of: Self.lockName), files))
  }

  func letGo() { exchange(for: .none) }

  var isHeld: Bool { if case .none = lock.withLock({ $0 }) { false } else { true } }

  enum Hold {
    case none
    case kept

    /// The folder was deleted or moved, so the locked file is no longer in it.
    case lost
  }

  var hold: Hold {
    switch lock.withLock({ $0 }) {
    case .none: .none
    case .unlockable, .lock(_, nil): .kept
    case .lock(let file, let identity?): isThere(file.path, identity) ? .kept : .lost
    }
  }

  private func isThere(_ path: String, _ identity: FileIdentity) -> Bool {
    do {
      return try files.status(path)?.identity == identity
    } catch let error as POSIXError where error.code == .ENOTDIR {
      return false
    } catch {
      return true
    }
  }

  /// Waits until the entries of the folder would survive a power cut.
  func synchronize() throws { try files.open(path, .folder).synchronize() }

  private func exchange(for new: FolderLock) {
    lock.withLock { Swift.exchange(&$0, with: new) }.release()
  }
}
