public import MillpondSignals
public import Synchronization

/// A write that has its place in the order, but has not arrived at a store yet.
///
/// While it exists, no store forgets a later write of the same key. Code that delays a write
/// between its call and its arrival, such as an encoder in a task, creates one first, and ends it
/// when the write has arrived.
@usableFromInline
package final class PendingWrite: Sendable {
  /// The revision of the write.
  package let revision: Revision

  private let isOver = AtomicValue<Bool>(false)

  /// Marks a write as pending until ``end()`` or until this object is released.
  ///
  /// - Parameter revision: The revision of the write.
  package init(_ revision: Revision) {
    self.revision = revision
    Self.begin(revision)
  }

  /// Records that the write has arrived, or never will.
  package func end() {
    if !isOver.exchange(true, ordering: .relaxed) { Self.end(revision) }
  }

  deinit {
    end()
  }

  /// Whether a write earlier than `revision` is pending.
  @inlinable
  package static func isAny(before revision: Revision) -> Bool {
    oldestNumber.load(ordering: .acquiring) < revision.number
  }

  /// The oldest pending revision; the greatest possible one if none is pending.
  @usableFromInline
  static var oldest: Revision {
    Revision(number: oldestNumber.load(ordering: .acquiring))
  }

  /// Runs `body`, in which the write arrives.
  @inlinable
  package static func during<Result>(_ revision: Revision, _ body: () -> Result) -> Result {
    begin(revision)
    defer { end(revision) }
    return body()
  }

  /// The number of the oldest pending write of the process, or the greatest number if there is none.
  @usableFromInline static let oldestNumber = AtomicValue<UInt64>(.max)

  /// The numbers of all pending writes of the process.
  private static let all = Locked(PendingRevisions())

  /// Marks a write as pending.
  @usableFromInline
  static func begin(_ revision: Revision) {
    all.withLock { numbers in
      numbers.begin(revision.number)
      oldestNumber.store(numbers.oldest, ordering: .releasing)
    }
  }

  /// Ends what ``begin(_:)`` has begun, once.
  @usableFromInline
  static func end(_ revision: Revision) {
    all.withLock { numbers in
      numbers.end(revision.number)
      oldestNumber.store(numbers.oldest, ordering: .releasing)
    }
  }
}
