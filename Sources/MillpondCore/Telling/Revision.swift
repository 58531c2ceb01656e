import Synchronization

/// The place of a telling in the order of all tellings of this process: a later one is higher.
public struct Revision: Sendable, Hashable, Comparable, BitwiseCopyable {
  @usableFromInline let number: UInt64

  /// Before every telling.
  public static var none: Revision { Revision(number: 0) }

  /// The next one.
  ///
  /// Never the same twice.
  public static func next() -> Revision {
    Revision(number: RevisionCounter.shared.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  /// Whether `left` was told before `right`.
  public static func < (left: Revision, right: Revision) -> Bool {
    left.number < right.number
  }
}

/// The order of tellings has to be one for all layers that a value may pass, so it is one for all.
enum RevisionCounter {
  static let shared = Atomic<UInt64>(0)
}
