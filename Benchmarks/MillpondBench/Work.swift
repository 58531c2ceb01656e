/// Repeatable work with an expected sum.
struct Work: Sendable {
  let name: String

  /// The nanoseconds of a floor on the machine where peers were measured; nil if it was not.
  let elsewhere: Double?

  /// The number of operations, where it is not that of the row: a few of what is slow.
  let few: Int?

  let expected: @Sendable (_ operations: Int) throws -> Int

  /// The unmeasured preparation of each repetition.
  let prepare: @Sendable () throws -> Void

  let run: @Sendable (_ operations: Int) throws -> Int

  /// - Parameters:
  ///   - elsewhere: Measured elsewhere, Swift 6.3.1; see the article "Measuring".
  ///   - expected: The expected result of `run`, computed after it and not measured.
  ///   - prepare: The unmeasured preparation of each repetition.
  ///   - run: Does the work that often, and returns a sum that it can't have got without doing it.
  init(
    _ name: String = "ours", elsewhere: Double? = nil, few: Int? = nil,
    expected: @escaping @Sendable (_ operations: Int) throws -> Int = { $0 },
    prepare: @escaping @Sendable () throws -> Void = {},
    run: @escaping @Sendable (_ operations: Int) throws -> Int
  ) {
    self.name = name
    self.elsewhere = elsewhere
    self.few = few
    self.expected = expected
    self.prepare = prepare
    self.run = run
  }

  /// Returns work whose observers add to a sum.
  static func summing(
    _ name: String = "ours", elsewhere: Double? = nil,
    expected: @escaping @Sendable (_ operations: Int) -> Int = { $0 },
    _ body: @escaping @Sendable (Sum, _ operations: Int) -> Void
  ) -> Work {
    Work(name, elsewhere: elsewhere, expected: expected) { operations in
      let sum = Sum()
      body(sum, operations)
      return sum.take()
    }
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
