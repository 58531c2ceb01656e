import MillpondSignals
import Synchronization

/// The position of a write in the order of all writes of this process; later ones are greater.
public struct Revision: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The place in the order, times four, plus the marks, which do not count in comparisons.
  @usableFromInline let number: UInt64

  /// The last number; there is one for all caches, since a value may pass through any layers.
  private static let lastNumber = AtomicValue<UInt64>(0)

  @usableFromInline
  init(number: UInt64) {
    self.number = number
  }

  /// The revision before every write.
  @inlinable
  public static var none: Revision { Revision(number: 0) }

  /// The revision after every write.
  @inlinable
  package static var last: Revision { Revision(number: ~markBits) }

  /// Returns the next revision, which is never returned again.
  public static func next() -> Revision {
    Revision(number: lastNumber.add(step, ordering: .acquiringAndReleasing).newValue)
  }

  /// The latest revision that was taken.
  @usableFromInline
  package static var present: Revision {
    Revision(number: lastNumber.load(ordering: .acquiring))
  }

  /// The revision directly before this one.
  @inlinable
  package var predecessor: Revision { Revision(number: max(number, Self.step) - Self.step) }

  /// The revision directly after this one.
  @inlinable
  package var successor: Revision { Revision(number: number + Self.step) }

  /// Whether `left` and `right` are the same place in the order.
  @inlinable
  public static func == (left: Revision, right: Revision) -> Bool {
    left.number & ~markBits == right.number & ~markBits
  }

  /// Whether `left` was taken before `right`.
  @inlinable
  public static func < (left: Revision, right: Revision) -> Bool {
    left.number & ~markBits < right.number & ~markBits
  }

  /// Hashes the place in the order.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(number & ~Self.markBits)
  }

  @inlinable static var step: UInt64 { 4 }
  @inlinable static var markBits: UInt64 { 3 }
}

// MARK: - Marks

extension Revision {
  /// Whether the set is that of a copy: a layer below has been given the value before.
  ///
  /// A store may drop a copy when it can't tell whether a later change of the key came in between:
  /// the layer below still knows.
  @inlinable
  package var isOfCopy: Bool { number & 1 != 0 }

  /// The same place in the order, for the set of a copy.
  @inlinable
  package var ofCopy: Revision { Revision(number: number | 1) }

  /// Whether the removal stands for an answer that could not be stored.
  ///
  /// Like the answer it wins over what was written before its get began, but is no write itself:
  /// an earlier write that is still under way is stored when it arrives.
  @inlinable
  package var isOfAnswer: Bool { number & 2 != 0 }

  /// The same place in the order, for a removal in place of an answer.
  @inlinable
  package var ofAnswer: Revision { Revision(number: number | 2) }

  /// The same place in the order, without marks.
  @inlinable
  package var unmarked: Revision { Revision(number: number & ~Self.markBits) }
}
