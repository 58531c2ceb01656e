import MillpondSignals

/// A value with its age, which travels from layer to layer: a value that is half an hour old on
/// disk is not new in memory.
///
/// A source that knows how long its answer may be stored says so with it:
///
///     func answers(_ key: URL, _ lookup: Lookup) -> Signal<Answer<Data>> {
///       load(key).map { .value(Stamped($0.body, timeToLive: .after($0.maxAge))) }
///     }
///
/// Every layer above stores the value for that long, or for its own time to live if that is
/// shorter, and passes on what is left: a value from disk has only its rest left in memory.
@frozen
public struct Stamped<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value

  /// The age in whole nanoseconds; a `Duration` would slow down every step of a miss.
  @usableFromInline let nanoseconds: Int64

  /// The rest of the value's own time to live in whole nanoseconds; `Int64.max` if it has none.
  @usableFromInline let rest: Int64

  /// The validator with which the origin can tell whether the value is still current.
  public let validator: Validator?

  /// Creates a value of the given age.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - age: The time since it left its origin; a negative age counts as zero.
  ///   - validator: The validator with which the origin can tell whether it is still current.
  ///   - timeToLive: The time from now on for which it may be stored; nil leaves that to each
  ///     cache. If it is over at once, caches deliver the value without storing it, and remove the
  ///     one stored before.
  @inlinable
  public init(
    _ value: Value, age: Duration = .zero, validator: Validator? = nil,
    timeToLive: TimeToLive? = nil
  ) {
    self.init(
      value, nanoseconds: age == .zero ? 0 : Self.nanoseconds(of: age),
      rest: timeToLive?.ownNanoseconds ?? .max, validator: validator)
  }

  @inlinable
  init(_ value: Value, nanoseconds: Int64, rest: Int64, validator: Validator?) {
    self.value = value
    self.nanoseconds = nanoseconds
    self.rest = rest
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

  /// The rest of the value's own time to live, as of the moment it was sent; nil if it has none.
  public var timeToLive: TimeToLive? {
    switch rest {
    case .max: nil
    case TimeToLive.unlimited: .forever
    default: .after(.nanoseconds(rest))
    }
  }

  /// Returns another value with the same age, time to live and validator.
  ///
  /// - Parameter transform: Returns the other value.
  @inlinable
  public func map<NewValue>(_ transform: (Value) throws -> NewValue) rethrows -> Stamped<NewValue> {
    Stamped<NewValue>(
      try transform(value), nanoseconds: nanoseconds, rest: rest, validator: validator)
  }

  /// Returns the same value so many nanoseconds later.
  @inlinable
  func older(by time: Int64) -> Stamped {
    let (age, isBeyond) = nanoseconds.addingReportingOverflow(time)
    return Stamped(
      value, nanoseconds: isBeyond ? .max : age,
      rest: rest < TimeToLive.unlimited ? max(0, rest - time) : rest, validator: validator)
  }

  /// Returns the same value with another time to live of its own, from now on.
  @usableFromInline
  func with(_ timeToLive: TimeToLive?) -> Stamped {
    Stamped(
      value, nanoseconds: nanoseconds, rest: timeToLive?.ownNanoseconds ?? .max,
      validator: validator)
  }
}

extension Stamped: Equatable where Value: Equatable {}
