import MillpondSignals

/// A value with its age, which travels from layer to layer: a value that is half an hour old on
/// disk is not new in memory.
public struct Stamped<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value

  /// The age in whole nanoseconds; a `Duration` would slow down every step of a miss.
  @usableFromInline let nanoseconds: Int64

  /// The validator with which the origin can tell whether the value is still current.
  public let validator: Validator?

  /// Creates a value of the given age; a negative age counts as zero.
  @inlinable
  public init(_ value: Value, age: Duration = .zero, validator: Validator? = nil) {
    self.init(
      value, nanoseconds: age == .zero ? 0 : Self.nanoseconds(of: age), validator: validator)
  }

  @inlinable
  init(_ value: Value, nanoseconds: Int64, validator: Validator?) {
    self.value = value
    self.nanoseconds = nanoseconds
    self.validator = validator
  }

  @usableFromInline
  static func nanoseconds(of age: Duration) -> Int64 {
    Int64(age.nanoseconds)
  }

  /// The time since the value left its origin, as of the moment it was sent: never negative, in
  /// whole nanoseconds.
  @inlinable
  public var age: Duration {
    .nanoseconds(nanoseconds)
  }

  /// Returns another value with the same age and validator.
  @inlinable
  public func map<NewValue>(_ transform: (Value) throws -> NewValue) rethrows -> Stamped<NewValue> {
    Stamped<NewValue>(try transform(value), nanoseconds: nanoseconds, validator: validator)
  }
}

extension Stamped: Equatable where Value: Equatable {}
