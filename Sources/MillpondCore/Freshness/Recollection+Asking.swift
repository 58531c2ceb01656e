public import MillpondSignals
public import Synchronization

extension Recollection {
  /// What is kept and usable, however old.
  func kept(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let policy = policy
    return store.getStamped(key, lookup).filter { policy.isUsable(age: $0.age) }
  }

  /// What is kept, as what was found for a get that it is not fresh enough for.
  func keptAsStale(_ key: Key) -> Signal<Finding> {
    kept(key, Lookup()).take(1).recover { _ in .empty }.map { [self] in
      finding($0, isFresh: false, asked: nil)
    }
  }

  /// What is kept, if it may stand in for a value that failed with `error`; else the failure.
  func standIn(_ key: Key, for error: any Error, by use: StaleUse) -> Signal<Finding> {
    guard policy.standsIn(for: error, by: use) else { return .fail(error) }
    return keptAsStale(key).ifEmpty { .fail(error) }
  }

  /// What is kept, if it is fresh, or else what a flight finds, as far as the get wants it.
  @inlinable
  func answer<Answer>(
    _ key: Key, _ lookup: Lookup, _ content: @escaping @Sendable (Finding) -> Answer
  ) -> Signal<Answer> {
    let use = lookup.stale ?? (lookup.freshness == .any ? policy.stale : .never)
    return answer(by: use, find(key, lookup, use), content) { self.hold(key) }
  }

  /// The same, for those who have not tried yet what is there at once.
  func answerFirst(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let answer = answer(key, lookup) { self.delivered($0) }
    return .deferred { [self] in
      if lookup.isObservable || now(key, lookup.counting(.nothing)) == nil { return answer }
      return store.getStamped(key, lookup.with(fresh(key, lookup.freshness))).ifEmpty { answer }
    }
  }

  /// What a new fetch brings, or else, if the get says so, what is kept.
  func reloaded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let use = lookup.stale ?? .never
    guard case .after = use else {
      return reload(key, lookup).recover { self.standIn(key, for: $0, by: use) }.map { [self] in
        delivered($0)
      }
    }
    return .asked { [self] asker in
      // One reload, for this get and for the hold that keeps it going.
      let reload = reload(key, lookup).inContext(of: asker).replayLast()
      return answer(
        by: use, keptAsStale(key).concat(reload), { self.delivered($0) },
        onStale: { self.holds.hold(key, isReload: false, reload) })
    }
  }

  /// What a new fetch brings, or else, if the policy says so, what is kept; it goes on for nobody, too.
  func refresh(_ key: Key) -> Signal<Value> {
    let use: StaleUse =
      switch policy.stale {
      case .never, .onAnyError: policy.stale
      case .onNamedErrors, .after: .onNamedErrors
      }
    let values = reload(key, Lookup(freshness: .reload))
      .recover { self.standIn(key, for: $0, by: use) }.map { $0.value.value }.replayLast()
    holds.hold(key, isReload: true, values)
    return values
  }

  @inlinable
  func answer<Answer>(
    by use: StaleUse, _ found: Signal<Finding>,
    _ content: @escaping @Sendable (Finding) -> Answer, onStale: @escaping @Sendable () -> Void
  ) -> Signal<Answer> {
    guard case .after = use else {
      return found.answered(by: use, policy, on: timeline, content)
    }
    return found.onNext { if !$0.value.isFresh { onStale() } }
      .answered(by: use, policy, on: timeline).map(content)
  }

  /// As it is now: a get that joins a flight late receives what has grown older meanwhile.
  private func delivered(_ finding: Finding) -> Stamped<Value> {
    Stamped<Value>(
      finding.value.value, age: finding.deliveredAge(at: timeline.now()),
      validator: finding.validator)
  }

  /// Keeps the flight going that follows a stale value, for gets that may leave.
  @usableFromInline
  func hold(_ key: Key) {
    holds.hold(
      key, isReload: false,
      flights.join(key, Lookup(priority: .low)) { self.look(.any, key, $0) })
  }
}

// MARK: - Joining

extension Recollection {
  /// What the flight of the key finds, as it is for this get: fresh or not by its own freshness.
  ///
  /// Gets of a key share a flight, whatever freshness they ask for. A get that gets nothing fresh enough
  /// by that asks again.
  @inlinable
  func find(_ key: Key, _ lookup: Lookup, _ use: StaleUse) -> Signal<Finding> {
    Signal { observer, lifetime in self.join(key, lookup, use, observer, lifetime) }
  }

  @inlinable
  func join(
    _ key: Key, _ lookup: Lookup, _ use: StaleUse, _ observer: Observer<Finding>,
    _ lifetime: Lifetime
  ) {
    let part = FlightPart(self.timeline.now(), lifetime.child())
    let flight = flights.join(key, lookup.with(.any), over: store) { shared in
      part.isOwn.store(true, ordering: .relaxed)
      return self.look(lookup.freshness, key, shared)
    }
    bringingKept(key, use, flight).run(
      Observer(
        next: { found in
          if part.lifetime.isEnded { return }
          let isFresh = self.isFresh(found, key, lookup.freshness, part)
          if isFresh { part.isAnswered = true } else if found.value.isFresh { part.isTooOld = true }
          let isLast = isFresh && !found.value.isFresh
          observer.next(isFresh == found.value.isFresh ? found : found.map { $0.with(isFresh) })
          // The flight goes on for gets that this is too old for.
          if isLast, !part.lifetime.isEnded {
            part.lifetime.end()
            observer.completed()
          }
        },
        other: { event in
          if part.lifetime.isEnded { return }
          guard event.isTerminal else { return observer.other(event) }
          part.lifetime.end()
          if case .completed = event, part.isTooOld, !part.isAnswered {
            return self.join(key, lookup, use, observer, lifetime)
          }
          observer.other(event)
        }), part.lifetime)
  }

  /// A flight of a reload does not look at what is kept, so a get that may not wait for it does.
  @usableFromInline
  func bringingKept(
    _ key: Key, _ use: StaleUse, _ flight: Signal<Finding>
  ) -> Signal<Finding> {
    guard case .after = use, flights.isReloading(key) else { return flight }
    return keptAsStale(key).concat(flight)
  }

  /// Whether a finding is fresh for a get with this freshness.
  @usableFromInline
  func isFresh(
    _ found: Finding, _ key: Key, _ asked: Freshness, _ part: FlightPart
  ) -> Bool {
    if part.isOwn.load(ordering: .relaxed) { return found.value.isFresh }
    let fresh = fresh(key, asked)
    // What has come while the get waited is as new to it as it can be.
    if let asked = found.value.asked, found.value.foundAt >= part.beginning {
      return asked.isAsStrict(as: fresh) || found.age == .zero || fresh.admits(age: found.age)
    }
    return fresh.admits(age: found.deliveredAge(at: timeline.now()))
  }
}

/// The part of a get in a flight.
///
/// Sendable because what varies is touched only by the flight's deliveries, which are serial.
@usableFromInline
final class FlightPart: @unchecked Sendable {
  @usableFromInline let beginning: Duration
  @usableFromInline let lifetime: Lifetime

  /// Whether the flight was started for this get, so that what it finds is fresh for it.
  @usableFromInline let isOwn = Atomic<Bool>(false)

  @exclusivity(unchecked) @usableFromInline var isAnswered = false

  /// Whether the flight brought something that is fresh for others, but not for this get.
  @exclusivity(unchecked) @usableFromInline var isTooOld = false

  @usableFromInline
  init(_ beginning: Duration, _ lifetime: Lifetime) {
    self.beginning = beginning
    self.lifetime = lifetime
  }
}

extension Flights {
  /// Whether the flight that a get of the key would join is that of a reload.
  fileprivate func isReloading(_ key: Key) -> Bool {
    table.withLock { $0.flight(of: key)?.isReload ?? false }
  }
}
