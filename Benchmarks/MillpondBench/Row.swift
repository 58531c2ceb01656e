/// A line of the table: work of ours beside its physical floor, measured in turns.
struct Row {
  let name: String
  let summary: String

  /// Nanoseconds an operation may take, at most; nil for a floor.
  var target: Double?

  /// Allocations an operation may make, at most; nil without a target.
  var mallocTarget: Double?

  /// The upper bound as a multiple of the floor's time; nil if only the table shows it.
  var ratioTarget: Double?

  /// The fastest of the peers; nil if they were not measured.
  var peer: Peer?

  /// Whether the body is itself a measure of others.
  var isFloor = false

  /// Whether allocations can be counted: not for stored short strings, on which the runtime's hook
  /// crashes (Swift 6.3).
  var isCounted = true

  /// The choice of the repetition that is shown.
  var figure = Figure.best

  let baseline: Work
  let body: Work
}

/// The repetition of a row that is shown.
enum Figure {
  /// The repetition with the least disturbance.
  case best

  /// The median, for threads that contend: in their best repetition they hardly collided.
  case median

  /// The factor on the usual number of operations in a repetition; threads need more than one time
  /// slice to meet.
  var stretch: Int {
    self == .median ? 4 : 1
  }
}

/// Repeatable work with an expected sum.
struct Work: Sendable {
  let name: String

  /// The nanoseconds of a floor beside the peers; nil if it was not measured there.
  let elsewhere: Double?

  let expected: @Sendable (_ operations: Int) -> Int
  let run: @Sendable (_ operations: Int) -> Int

  /// The unmeasured preparation of each repetition.
  let prepare: @Sendable () -> Void

  /// - Parameters:
  ///   - expected: The expected result of `run`, computed after it and not measured.
  ///   - prepare: The unmeasured preparation of each repetition.
  ///   - run: Does the work that often, a multiple of 2,000, and returns a sum that it can't have
  ///     got without doing it.
  ///   - elsewhere: Measured elsewhere, Swift 6.3.1; see the article "Measuring".
  init(
    _ name: String, elsewhere: Double? = nil,
    expected: @escaping @Sendable (_ operations: Int) -> Int,
    prepare: @escaping @Sendable () -> Void = {},
    run: @escaping @Sendable (_ operations: Int) -> Int
  ) {
    self.name = name
    self.elsewhere = elsewhere
    self.expected = expected
    self.prepare = prepare
    self.run = run
  }
}

/// The sum that the observers of a row add to.
///
/// Sendable because one thread at a time adds: the measured observer contract.
final class Sum: @unchecked Sendable {
  @exclusivity(unchecked) private var value = 0

  func add(_ term: Int) {
    value &+= term
  }

  /// Returns the sum so far; the next one starts from zero.
  func take() -> Int {
    defer { value = 0 }
    return value
  }
}

/// Returns the same value, of which the optimiser knows nothing.
@inline(never)
@_optimize(none)
func opaque<Value>(_ value: Value) -> Value {
  value
}

/// Returns the same closure, of which the optimiser knows nothing. (``opaque(_:)`` would wrap it
/// twice, for a generic parameter and back.)
@inline(never)
@_optimize(none)
func opaqueCall(_ call: @escaping (Int) -> Void) -> (Int) -> Void {
  call
}

/// Returns 0 + 1 + … + (`count` - 1).
func triangle(_ count: Int) -> Int {
  count * (count - 1) / 2
}
