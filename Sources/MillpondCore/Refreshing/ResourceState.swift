/// The state of a resource at one moment.
public struct ResourceState<Value: Sendable>: Sendable {
  /// The value; nil if there is none that is usable, or if none is known.
  public let value: Value?

  /// The time since the value left its origin, as of this state.
  public let age: Duration?

  /// The moment at which the value left its origin, by the continuous clock.
  package let bornAt: ContinuousClock.Instant?

  /// Whether the value is too old or marked to be the answer to a get, as of this state; false
  /// without a value.
  ///
  /// It becomes so without a further state. A get or an observation fetches a new one.
  public let isStale: Bool

  /// The origin of the value: fetched, set or kept; nil without a value.
  public let origin: Origin?

  /// Whether the resource is being fetched.
  public let isLoading: Bool

  /// The failure of the last fetch; nil after a success or a write.
  ///
  /// The value is then the last good one. The failures of the last 1,000 keys are known.
  public let error: (any Error)?

  /// Whether nothing more is to come by itself: nothing is being fetched, and there is a value that is
  /// fresh, or a failure.
  ///
  /// An observation begins with what is known, which may be nothing yet.
  public var isSettled: Bool {
    !isLoading && (error != nil || value != nil && !isStale)
  }

  init(
    _ value: Stamped<Value>?, isStale: Bool, origin: Origin?, isLoading: Bool,
    error: (any Error)?
  ) {
    self.value = value?.value
    age = value?.age
    bornAt = value.map { .now - $0.age }
    self.isStale = isStale
    self.origin = origin
    self.isLoading = isLoading
    self.error = error
  }

  /// The origin of a value, as far as its key was watched.
  public enum Origin: Sendable, Hashable {
    /// The source sent it.
    case fetched

    /// A caller set it.
    case set

    /// It was stored already, in memory or where values outlive the process.
    case kept

    /// Creates the origin of the value that an event brings; nil if the event does not determine it.
    init?(_ event: KeyEvent<Value>) {
      switch event {
      case .fetched: self = .fetched
      case .set: self = .set
      case .begun, .ended, .kept, .removed, .settled, .flushed: return nil
      }
    }
  }
}

extension ResourceState: Equatable where Value: Equatable {
  /// Whether two states show the same: equal values, origins, loading and errors.
  ///
  /// Ages and staleness are not compared, since they change by themselves. Errors are equal if their types and
  /// descriptions are.
  ///
  /// - Parameters:
  ///   - one: A state.
  ///   - other: Another state.
  public static func == (one: Self, other: Self) -> Bool {
    one.value == other.value && one.isSimilar(to: other)
  }
}

extension ResourceState {
  /// Whether another state shows nothing new; false if values that can't be compared are present.
  func isRepeated(by other: ResourceState) -> Bool {
    isSimilar(to: other) && Self.areEqual(value, other.value)
  }

  private func isSimilar(to other: ResourceState) -> Bool {
    origin == other.origin && isLoading == other.isLoading
      && Self.areEqual(error, other.error)
  }

  private static func areEqual(_ one: (any Error)?, _ other: (any Error)?) -> Bool {
    switch (one, other) {
    case (nil, nil): true
    case (let one?, let other?): type(of: one) == type(of: other) && "\(one)" == "\(other)"
    default: false
    }
  }

  private static func areEqual(_ one: Value?, _ other: Value?) -> Bool {
    switch (one, other) {
    case (nil, nil): true
    case (let one?, let other?): (one as? any Equatable)?.equals(other) ?? false
    default: false
    }
  }
}

extension Equatable {
  fileprivate func equals(_ other: some Any) -> Bool {
    other as? Self == self
  }
}
