public import MillpondSignals

/// A get that takes part in the flight of its key and receives its findings, by its own freshness.
///
/// The gets of a key share a flight, whatever freshness they ask for. A get that receives nothing
/// fresh enough asks again.
///
/// Sendable because the mutable state is touched before the get joins a flight, and then only by
/// the deliveries of the flight, which are serial.
@usableFromInline
@_fixed_layout
final class RefreshingGet<Store: Cache, Base: Source, Element: Sendable>: @unchecked Sendable
where Store.Key == Base.Key, Store.Value == Base.Value {
  @usableFromInline typealias Finding = Stamped<CachedFetch<Base.Value>>

  @usableFromInline let inside: RefreshingCache<Store, Base>
  @usableFromInline let key: Base.Key
  @usableFromInline let lookup: Lookup
  @usableFromInline let use: StaleUse
  @usableFromInline let content: @Sendable (Finding) -> Element
  @usableFromInline let observer: Observer<Element>
  @usableFromInline let lifetime: Lifetime

  /// The moment at which the get joined.
  @exclusivity(unchecked) @usableFromInline var beginning = Revision.none

  /// Whether the flight was started for this get, so that its fetched values are fresh for it.
  @exclusivity(unchecked) @usableFromInline var isOwn = false
  @exclusivity(unchecked) @usableFromInline var isAnswered = false

  /// Whether the flight is a reload, which does not look at stored values.
  @exclusivity(unchecked) @usableFromInline var isReload = false

  /// Whether the flight brought a value that is fresh for other gets, but not for this one.
  @exclusivity(unchecked) @usableFromInline var isTooOld = false

  /// A stale value that may replace a failure; created only when there is one.
  @exclusivity(unchecked) @usableFromInline var stale: SerialState<Finding>?

  @inlinable
  init(
    _ inside: RefreshingCache<Store, Base>, _ key: Base.Key, _ lookup: Lookup, _ use: StaleUse,
    _ observer: Observer<Element>, _ lifetime: Lifetime,
    _ content: @escaping @Sendable (Finding) -> Element
  ) {
    self.inside = inside
    self.key = key
    self.lookup = lookup
    self.use = use
    self.content = content
    self.observer = observer
    self.lifetime = lifetime
  }

  // MARK: Joining

  /// Joins the flight of the key, or starts one.
  @inlinable
  func join() {
    (beginning, isTooOld) = (.present, false)
    let flight = Observer<Finding>(next: { self.next($0) }, other: { self.other($0) })
    guard case .after = use else { return wait(flight, lifetime) }
    inside.bringingKept(key, Signal { self.wait($0, $1) }).run(flight, lifetime)
  }

  @inlinable
  func wait(_ flight: Observer<Finding>, _ lifetime: Lifetime) {
    let shared = lookup.asking(about: nil).with(.any)
    let caller = inside.flights.enter(key, shared)
    isOwn = caller?.isNew ?? true
    if !isOwn {
      isReload = caller?.flight.isReload ?? false
      // A get that joins reaches no layer, but is counted in one.
      _ = inside.store.now(key, shared.counting(.everything))
    }
    inside.flights.wait(as: caller, key, shared, flight, lifetime) {
      inside.look(lookup.freshness, key, $0)
    }
  }

  // MARK: Receiving

  @inlinable
  func next(_ found: Finding) {
    let wasFresh = found.value.isFresh
    guard isOwn ? wasFresh : isFresh(found) else {
      isTooOld = isTooOld || wasFresh
      return receiveStale(wasFresh ? found.map { $0.with(false) } : found)
    }
    isAnswered = true
    stale = nil
    if wasFresh { return observer.next(content(found)) }
    observer.next(content(found.map { $0.with(true) }))
    // The flight continues for gets that need a newer value.
    if !lifetime.isEnded { observer.completed() }
  }

  @inlinable
  func receiveStale(_ found: Finding) {
    switch use {
    case .never: break
    case .onNamedErrors, .onAnyError: stale = SerialState(found)
    case .after: observer.next(content(found))
    }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    switch event {
    case .completed where isTooOld && !isAnswered: join()
    case .completed where isReload && !isAnswered, .failed where isReload && !isAnswered:
      lookAtLast(event)
    case .failed(let error): failed(error)
    case .progress, .completed: observer.other(event)
    }
  }

  @inlinable
  func failed(_ error: any Error) {
    if let found = stale?.value, inside.isStandIn(found, for: error, by: use) {
      observer.next(content(found))
      if !lifetime.isEnded { observer.completed() }
    } else {
      observer.failed(error)
    }
  }

  /// Looks at the stored value after another caller's reload brought nothing: it may be fresh for
  /// this get, or replace a failure.
  @usableFromInline
  func lookAtLast(_ end: Event<Never>) {
    isReload = false
    inside.keptAsStale(key).run(
      Observer(
        next: { found in
          if self.inside.ages.fresh(self.key, self.lookup.freshness).admits(age: found.age) {
            self.next(found)
          } else {
            self.stale = SerialState(found)
          }
        },
        other: { event in
          if event.isTerminal, !self.isAnswered { self.other(end) }
        }), lifetime)
  }

  /// Whether a finding of a flight that this get joined is fresh for it.
  @inlinable
  func isFresh(_ found: Finding) -> Bool {
    // A fetch from before a mark brings nothing that is fresh for a get that joins it.
    if inside.ages.isMarked(key, asked: found.value.asked) { return false }
    let fresh = inside.ages.fresh(key, lookup.freshness)
    // A value that arrived while the get waited is as new as it can be.
    if let requested = found.value.requested, found.value.foundAs > beginning {
      return requested.isAsStrict(as: fresh) || found.age == .zero || fresh.admits(age: found.age)
    }
    return fresh.admits(age: found.deliveredAge(at: inside.scheduler.now()))
  }
}
