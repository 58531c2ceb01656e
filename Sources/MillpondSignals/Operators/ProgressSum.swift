/// A sum of the progress of several runs, kept up to date.
///
/// - Complexity: O(1) for each change, however many runs there are.
@usableFromInline
struct ProgressSum: Sendable {
  // Wide enough for any number of `Int`s, so that each can be subtracted again exactly.
  private var completed: Int128 = 0
  private var total: Int128 = 0
  private var unknown = 0

  @usableFromInline
  init() {}

  /// The sum; its total is known if all are, and a count that exceeds `Int` saturates.
  @usableFromInline
  var progress: SignalProgress {
    SignalProgress(
      completed: Int(clamping: completed), total: unknown > 0 ? nil : Int(clamping: total))
  }

  @usableFromInline
  mutating func add(_ one: SignalProgress) {
    completed += Int128(one.completed)
    if let own = one.total { total += Int128(own) } else { unknown += 1 }
  }

  @usableFromInline
  mutating func remove(_ one: SignalProgress) {
    completed -= Int128(one.completed)
    if let own = one.total { total -= Int128(own) } else { unknown -= 1 }
  }
}

extension SignalProgress {
  /// The share that is done, 0 to 1; nil while the total is unknown.
  ///
  /// With a total of zero it is 1.
  @inlinable
  public var fraction: Double? {
    guard let total else { return nil }
    return total == 0 ? 1 : min(1, Double(completed) / Double(total))
  }
}
