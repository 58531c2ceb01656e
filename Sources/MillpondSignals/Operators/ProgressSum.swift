/// What several have done together, kept up as each of them goes on.
///
/// - Complexity: O(1) a change, however many there are.
@usableFromInline
struct ProgressSum: Sendable {
  // Wide enough for any number of `Int`s, so that what was added can be taken away exactly.
  private var completed: Int128 = 0
  private var total: Int128 = 0
  private var unknown = 0

  @usableFromInline
  init() {}

  /// Both together: the total is known if all are, and what does not fit an `Int` saturates.
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
