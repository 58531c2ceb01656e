public import MillpondSignals

extension Remembered {
  /// Returns the state of a key, now and after every change; subscribing fetches nothing.
  ///
  /// The value in it was admitted by the store: one that was fetched for a get from before a write,
  /// or from before the end of a scope, never appears. The signal never ends. No state is sent
  /// twice in a row; see ``ResourceState/==(_:_:)`` for the states that count as equal. Changes
  /// made to the store itself, not through this cache, are not noticed.
  ///
  ///     users.states(of: 7).subscribeOnMain(onNext: { view.show($0) })
  public func states(of key: Key) -> Signal<ResourceState<Value>> {
    resources.getStamped(key, Lookup()).map { [self] in state(of: key, $0.value) }
      .distinct { $0.isRepeated(by: $1) }
  }

  private func state(of key: Key, _ kept: StoredResource<Value>) -> ResourceState<Value> {
    let stored = resources.base
    // The found value may be outdated; the one in memory is not.
    let present = stored.peek(key)
    // Memory has evicted it since: what the store has is looked up for all watchers.
    if present == nil, kept.isInMemory { stored.watchers.send(.settled, of: key) }
    let value = present ?? stored.usable(kept)
    return ResourceState(
      value: value?.value, age: value?.age,
      provenance: value == nil ? nil : kept.provenance ?? .kept,
      isLoading: stored.watchers.isFetching(key), error: inside.failures.last(key))
  }

  /// Returns the state of a key, now and after every change, and fetches the value when it is
  /// stale, at an interval, and whenever a trigger says so.
  ///
  ///     users.observe(7, every: .seconds(60), refreshingOn: foreground.merge(connectionBack))
  ///
  /// The states are those of ``states(of:)``. The subscription makes a get of the key, so a stale
  /// or missing value is fetched, and a fresh one is not. All observers of a key and all its gets
  /// share each fetch, which is cancelled when the last of them leaves; one after which a stale
  /// value may be sent continues, as for any get. A failure appears in ``ResourceState/error``,
  /// beside the last good value, and the next interval or trigger tries again. A removed value is
  /// not fetched again before that.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - interval: The time from the birth of the value, or from the end of the last fetch, to the
  ///     next fetch; with nil, or less than a nanosecond, there are none. Several observers fetch
  ///     no more often than the one with the shortest interval.
  ///   - trigger: A signal, each of whose values leads to a fetch, for instance when the program
  ///     comes to the foreground, the connection is back, or the user pulls to refresh. A fetch that
  ///     runs already is joined; a remembered failure does not answer. The trigger's failure fails
  ///     the observation; after its completion the observation continues.
  ///   - file: The file of the call, which debug builds show in a ``FlightRecord``.
  ///   - line: The line of the call.
  /// - Returns: A signal that does not end by itself. It fails if a get would wait for itself, with
  ///   ``CacheError/circular(key:)``, and with the failure of the trigger.
  /// - Complexity: One timer for each observer with an interval.
  public func observe(
    _ key: Key, every interval: Duration? = nil, refreshingOn trigger: Signal<Void> = .never,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<ResourceState<Value>> {
    typealias Step = ObservationStep<Value>
    var steps = states(of: key).map { Step.show($0) }
    if let interval, interval >= .nanoseconds(1) {
      steps = steps.timed(on: inside.scheduler) { _ in IntervalRefreshRule(interval) }
    }
    return .withCaller { [self, steps] caller in
      let renewals = PublishSubject<Void>()
      return
        steps
        .merge(Signal.just(.get(.any)))
        // However coarse the clock, no stored value is new enough.
        .merge(trigger.map { .get(.atMost(.nanoseconds(-1))) })
        .flatMap(.merge) { [self] step -> Signal<ResourceState<Value>> in
          let freshness: Freshness
          switch step {
          case .show(let state): return .just(state)
          case .get(let asked), .renew(let asked): freshness = asked
          }
          // In the context of the observer: a fetch that ends may have led to this step.
          let value = get(key, freshness: freshness, file: file, line: line)
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
  }
}

extension Error {
  /// Whether the error of a get is no failure of a fetch, and so in no state.
  fileprivate var isOfComposition: Bool {
    if case .circular? = self as? CacheError { true } else { isNestedTooDeeply }
  }
}

/// A step of an observation.
enum ObservationStep<Value: Sendable>: Sendable {
  case show(ResourceState<Value>)
  case get(Freshness)

  /// A get because an interval is over.
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
