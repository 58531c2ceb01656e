public import Foundation
import MillpondCore
import MillpondSignals

/// A file with a value of a disk cache; it stays as long as somebody holds this.
///
/// Meanwhile the value is not evicted. If another is told for its key, or it is removed, the file
/// stays until this is released. After that the file may go at any time, so nobody should keep its
/// ``url`` for longer, nor write to it.
public final class DiskFile: Sendable {
  /// Where the value is: all of it, and nothing else.
  public let url: URL

  /// Its size in bytes.
  public let byteCount: Int

  /// How long ago it left its origin.
  public let age: Duration

  /// The validator by which the origin can tell whether it is still good.
  public let validator: Validator?

  /// The place of the value among all writes, if it has just come; nil if it was stored before.
  let revision: Revision?

  private let release: @Sendable () -> Void

  init(
    path: String, byteCount: Int, age: Duration, validator: Validator?, revision: Revision? = nil,
    release: @escaping @Sendable () -> Void
  ) {
    self.revision = revision
    url = URL(filePath: path, directoryHint: .notDirectory)
    self.byteCount = byteCount
    self.age = age
    self.validator = validator
    self.release = release
  }

  deinit { release() }
}

/// The files that are lent by a store, also when it has been closed: the next store of the folder in
/// this process leaves them until they are given back.
final class HeldFiles: Sendable {
  private struct State: Sendable {
    var counts: [UInt64: Int] = [:]
    var heir: (@Sendable (UInt64) -> Void)?
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> { state.withLock { Set($0.counts.keys) } }

  func add(_ number: UInt64) { state.withLock { $0.counts[number, default: 0] += 1 } }

  /// Notes that a file has been given back, and lets the heir know if it was the last hold.
  func remove(_ number: UInt64) {
    let heir = state.withLock { state in
      let count = state.counts[number] ?? 0
      state.counts[number] = count > 1 ? count - 1 : nil
      return count > 1 ? nil : state.heir
    }
    heir?(number)
  }

  /// Makes the next store take over what is held.
  ///
  /// - Parameter heir: Called from now on when the last hold of a file is given back.
  func handOver(to heir: @escaping @Sendable (UInt64) -> Void) -> Set<UInt64> {
    state.withLock { state in
      state.heir = heir
      return Set(state.counts.keys)
    }
  }
}
