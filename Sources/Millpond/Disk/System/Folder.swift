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
  private let hold = Locked(FolderLock.none)

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

  var isHeld: Bool { if case .none = hold.withLock({ $0 }) { false } else { true } }

  /// Whether the folder was deleted or moved, so that the locked file is no longer in it.
  var isLost: Bool {
    guard case .lock(let file) = hold.withLock({ $0 }) else { return false }
    guard let ours = try? file.status().identity else { return false }
    do {
      return try files.status(file.path)?.identity != ours
    } catch let error as POSIXError where error.code == .ENOTDIR {
      return true
    } catch {
      return false
    }
  }

  /// Waits until the entries of the folder would survive a power cut.
  func synchronize() throws { try files.open(path, .folder).synchronize() }

  private func exchange(for new: FolderLock) {
    hold.withLock { Swift.exchange(&$0, with: new) }.release()
  }
}
