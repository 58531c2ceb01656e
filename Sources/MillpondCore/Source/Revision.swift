import Synchronization

/// The place of a write in the order of all writes of this process: a later one is higher.
public struct Revision: Sendable, Hashable, Comparable, BitwiseCopyable {
  @usableFromInline let number: UInt64

  @usableFromInline
  init(number: UInt64) {
    self.number = number
  }

  /// Before every write.
  @inlinable
  public static var none: Revision { Revision(number: 0) }

  /// After every write.
  @inlinable
  package static var last: Revision { Revision(number: .max) }

  /// The next one.
  ///
  /// Never the same twice.
  public static func next() -> Revision {
    Revision(number: RevisionCounter.shared.add(1, ordering: .acquiringAndReleasing).newValue)
  }

  /// The one that was drawn last.
  @usableFromInline
  package static var present: Revision {
    Revision(number: RevisionCounter.shared.load(ordering: .acquiring))
  }

  /// Whether `left` was drawn before `right`.
  @inlinable
  public static func < (left: Revision, right: Revision) -> Bool {
    left.number < right.number
  }
}

/// The order of writes has to be one for all layers that a value may pass, so it is one for all.
enum RevisionCounter {
  static let shared = Atomic<UInt64>(0)
}
