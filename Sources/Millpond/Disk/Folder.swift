import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// The folder of a store, which no other process may use: it holds the lock on a file in it.
final class Folder: Sendable {
  static let lockName = "millpond.lock"

  let path: String
  private let hold = Locked(Hold.none)
  private let remaking = DispatchQueue(label: "millpond.disk.remaking")

  private enum Hold: Sendable {
    case none

    /// The folder can only be read, and there is no file to lock: nobody can write either.
    case unlockable

    case lock(Int32)
  }

  init(path: String) {
    self.path = path
  }

  deinit {
    letGo()
  }

  func path(of fileName: String) -> String {
    "\(path)/\(fileName)"
  }

  /// Makes the folder if need be, and takes it.
  ///
  /// - Throws: ``CacheError/inUse(layer:)`` if another process has it; what keeps it from being made.
  func take() throws {
    try POSIX.makeFolder(path)
    let new = try newHold()
    let old = hold.withLock { hold in
      defer { hold = new }
      return hold
    }
    close(old)
  }

  /// Lets other processes have it.
  func letGo() {
    let old = hold.withLock { hold in
      defer { hold = .none }
      return hold
    }
    close(old)
  }

  var isHeld: Bool {
    if case .none = hold.withLock({ $0 }) { false } else { true }
  }

  /// Whether what is in the folder now may be removed: another one may have taken its place, and
  /// belong to another process.
  var isOurs: Bool {
    isHeld && !isLost
  }

  /// Makes the folder anew, and takes it, if somebody has deleted or moved it.
  func restore() throws {
    if !isLost { return }
    // One lane at a time: of two, the second would find the lock taken by the first.
    try remaking.sync {
      if isLost { try take() }
    }
  }

  /// Whether the file that is locked is not in this folder any more.
  private var isLost: Bool {
    guard case .lock(let descriptor) = hold.withLock({ $0 }) else { return false }
    return POSIX.status(descriptor)?.file != POSIX.status(path(of: Self.lockName))?.file
  }

  private func newHold() throws -> Hold {
    let path = path(of: Self.lockName)
    let descriptor: Int32
    do {
      descriptor = try POSIX.openShared(path)
    } catch let error as POSIXError where error.isRefusalToWrite {
      do {
        descriptor = try POSIX.openForReading(path)
      } catch let error as POSIXError where error.code == .ENOENT {
        return .unlockable
      }
    }
    do {
      if try POSIX.lock(descriptor) { return .lock(descriptor) }
    } catch {
      // A volume that knows no locks: entries are still replaced whole, only the limit is not shared.
      return .lock(descriptor)
    }
    POSIX.close(descriptor)
    throw CacheError.inUse(layer: CacheError.diskLayer)
  }

  private func close(_ hold: Hold) {
    guard case .lock(let descriptor) = hold else { return }
    POSIX.unlock(descriptor)
    POSIX.close(descriptor)
  }
}

extension POSIXError {
  fileprivate var isRefusalToWrite: Bool {
    code == .EACCES || code == .EROFS || code == .EPERM
  }
}
