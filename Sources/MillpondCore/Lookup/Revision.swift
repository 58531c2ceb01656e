import Synchronization

/// The position of a write in the order of all writes of this process; later ones are greater.
public struct Revision: Sendable, Hashable, Comparable, BitwiseCopyable {
  @usableFromInline let number: UInt64

  @usableFromInline
  init(number: UInt64) {
    self.number = number
  }

  /// The revision before every write.
  @inlinable
  public static var none: Revision { Revision(number: 0) }

  /// The revision after every write.
  @inlinable
  package static var last: Revision { Revision(number: .max) }

  /// Returns the next revision, which is never returned again.
  public static func next() -> Revision {
    Revision(number: RevisionCounter.shared.add(1, ordering: .acquiringAndReleasing).newValue)
  }

  /// The latest revision that was taken.
  @usableFromInline
  package static var present: Revision {
    Revision(number: RevisionCounter.shared.load(ordering: .acquiring))
  }

  /// Whether `left` was taken before `right`.
  @inlinable
  public static func < (left: Revision, right: Revision) -> Bool {
    left.number < right.number
  }
}

/// The counter of revisions; there is one for all caches, since a value may pass through any
/// layers.
enum RevisionCounter {
  static let shared = Atomic<UInt64>(0)
}
