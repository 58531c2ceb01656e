public import MillpondSignals

extension Remembered {
  /// Returns the state of a key, now and after every change; subscribing fetches nothing.
  public func states(of key: Key) -> Signal<ResourceState<Value>> {
    resources.getStamped(key, Lookup()).map { [self] in state(of: key, $0.value) }
      .distinct { $0.isRepeated(by: $1) }
  }

  private func state(of key: Key, _ shown: StoredResource<Value>) -> ResourceState<Value> {
    let value = resources.base.present(key, shown)
    let isFresh = value.map { inside.ages.fresh(key, .any).admits(age: $0.age) }
    return ResourceState(
      value, isStale: isFresh == false, origin: value == nil ? nil : shown.origin ?? .kept,
      isLoading: inside.watchers.isFetching(key), error: inside.failures.last(key))
  }

  /// Returns the state of a key, now and after every change, and fetches the value when it is
  /// stale, at an interval, and whenever a trigger says so.
  public func observe(
    _ key: Key, every interval: Duration?, refreshingOn trigger: Signal<Void>, _ lookup: Lookup
  ) -> Signal<ResourceState<Value>> {
    typealias Step = ObservationStep<Value>
    var steps = states(of: key).map { Step.show($0) }
    if let interval, interval >= .nanoseconds(1) {
      steps = steps.timed(on: inside.scheduler) { _ in IntervalRefreshRule(interval) }
    }
    let observation = Signal<ResourceState<Value>>.withCaller { [self, steps] caller in
      let renewals = PublishSubject<Void>()
      return
        steps
        .merge(Signal.just(.get(.any)))
        // However coarse the clock, no stored value is new enough.
        .merge(trigger.map { .renew(.atMost(.nanoseconds(-1))) })
        .flatMap(.merge) { [self] step -> Signal<ResourceState<Value>> in
          let freshness: Freshness
          switch step {
          case .show(let state): return .just(state)
          case .get(let asked), .renew(let asked): freshness = asked
          }
          // In the context of the observer: a fetch that ends may have led to this step.
          let value = answer(key, lookup.with(freshness))
            .ignoreValues(as: ResourceState<Value>.self)
            .recover { $0.isOfComposition ? .fail($0) : .empty }.inContext(of: caller)
          guard case .renew = step else { return value }
          // It replaces the one before, which leaves only now: so the fetch that both wait for goes
          // on, and one that a write has detached does not hold up the next.
          return Signal { observer, lifetime in
            value.take(until: renewals.signal.skip(1)).run(observer, lifetime)
            renewals.next(())
          }
        }
    }
    return untilEnd(observation, key)
  }

  /// Returns the answer to a get, which is immediate if it can be.
  private func answer(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal(
      start: { [self] observer, lifetime in get(key, lookup).run(observer, lifetime) },
      now: { [self] in now(key, lookup) })
  }
}

extension Error {
  /// Whether the error of a get is no failure of a fetch, and so in no state.
  fileprivate var isOfComposition: Bool {
    if case .circular? = self as? CacheError { true } else { false }
  }
}

/// A step of an observation.
enum ObservationStep<Value: Sendable>: Sendable {
  case show(ResourceState<Value>)
  case get(Freshness)

  /// A get because an interval is over, or because of a trigger, in the place of the one before.
  case renew(Freshness)
}

/// The rule that gets a value again when it, and the last attempt, are older than an interval.
struct IntervalRefreshRule<Content: Sendable>: TimedRule {
  typealias Value = ObservationStep<Content>

  private let interval: Duration
  private var lastAttempt: Duration?
  private var wasLoading = false
  private(set) var deadline: Duration?

  init(_ interval: Duration) {
    self.interval = interval.addable
  }

  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(.show(let state)) = event else { return event }
    if wasLoading, !state.isLoading { lastAttempt = now }
    wasLoading = state.isLoading
    let birth = state.age.map { now - $0 }
    deadline = ([birth, lastAttempt].compactMap { $0 }.max() ?? now) + interval
    return event
  }

  mutating func wake(at now: Duration) -> Event<Value>? {
    lastAttempt = now
    deadline = now + interval
    // A value that another observer has just fetched is new enough.
    return .next(.renew(.atMost(interval - .nanoseconds(1))))
  }
}
