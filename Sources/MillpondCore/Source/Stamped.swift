import MillpondSignals

/// A value and what is known of its age: it travels so from layer to layer, so that a value that
/// is half an hour old on disk does not become new in memory.
public struct Stamped<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value

  /// In whole nanoseconds, since a `Duration` would cost every step of a miss.
  @usableFromInline let nanoseconds: Int64

  /// By what the origin can say whether it is still good.
  public let validator: Validator?

  /// A value of the given age; a negative age is taken as zero.
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

  /// The time since it came from its origin, when this was sent: never negative, in whole nanoseconds.
  @inlinable
  public var age: Duration {
    .nanoseconds(nanoseconds)
  }

  /// Another value of the same age and validator.
  @inlinable
  public func map<NewValue>(_ transform: (Value) throws -> NewValue) rethrows -> Stamped<NewValue> {
    Stamped<NewValue>(try transform(value), nanoseconds: nanoseconds, validator: validator)
  }
}

extension Stamped: Equatable where Value: Equatable {}
