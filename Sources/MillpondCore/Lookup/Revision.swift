import Synchronization

/// The position of a write in the order of all writes of this process; later ones are greater.
public struct Revision: Sendable, Hashable, Comparable, BitwiseCopyable {
  @usableFromInline let number: UInt64

  /// The last number; there is one for all caches, since a value may pass through any layers.
  private static let lastNumber = Atomic<UInt64>(0)

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
    Revision(number: lastNumber.add(1, ordering: .acquiringAndReleasing).newValue)
  }

  /// The latest revision that was taken.
  @usableFromInline
  package static var present: Revision {
    Revision(number: lastNumber.load(ordering: .acquiring))
  }

  /// Whether `left` was taken before `right`.
  @inlinable
  public static func < (left: Revision, right: Revision) -> Bool {
    left.number < right.number
  }
}
