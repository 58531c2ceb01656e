/// A value and what is known of its age: it travels so from layer to layer, so that a value that
/// is half an hour old on disk does not become new in memory.
public struct Stamped<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value

  /// How long ago it came from its origin, when this was sent; never negative.
  public let age: Duration

  /// By what the origin can say whether it is still good.
  public let validator: Validator?

  /// A value of the given age; a negative age is taken as zero.
  @inlinable
  public init(_ value: Value, age: Duration = .zero, validator: Validator? = nil) {
    self.value = value
    self.age = age < .zero ? .zero : age
    self.validator = validator
  }

  /// Another value of the same age and validator.
  @inlinable
  public func map<NewValue>(_ transform: (Value) throws -> NewValue) rethrows -> Stamped<NewValue> {
    Stamped<NewValue>(try transform(value), age: age, validator: validator)
  }
}

extension Stamped: Equatable where Value: Equatable {}
