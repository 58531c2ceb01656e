import MillpondSignals

/// The value that is shown for each watched key, now and after every change, as a source that never
/// ends.
///
/// Fetches nothing, and sends once more when a fetch of the key begins or ends. What may be shown
/// is decided here: a stored value that is usable, and a fetched one that no write has overtaken,
/// stored or not.
struct StoredResources<Key: Hashable & Sendable, Value: Sendable>: Source {
  /// Returns the value in memory, without counting this as a use; nil if it is elsewhere.
  let peek: @Sendable (Key) -> Stamped<Value>?

  /// Looks up the stored value if it is not in memory.
  let stored: @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  let watchers: KeyWatchers<Key, Value>
  let policy: FreshnessPolicy
  let scheduler: Scheduler

  func get(_ key: Key, _ lookup: Lookup) -> Signal<StoredResource<Value>> {
    // Subscribes to the events first, so that none is missed.
    let found = watchers.events(of: key)
      // Changes below a value in memory are not visible.
      .filter { $0.isChange && !($0.isSettled && usable(key) != nil) }
      .merge(.just(.removed))
      .flatMap(.latest) { look(for: key, after: $0) }
      .scan(StoredResource.nothing) { $1.after($0) }
    let resource =
      if case .after(let limit) = policy.usableFor {
        found.timed(on: scheduler) { _ in UsableTimeRule<Value>(limit) }
      } else { found }
    let fetches = watchers.events(of: key).filter { !$0.isChange }.map { _ in () }.merge(.just(()))
    return combineLatest(resource, fetches).map { resource, _ in resource }
  }

  /// Returns the value to show at this moment: the one in memory, or else the one shown before.
  ///
  /// Memory may have evicted that without an event, which takes nothing from the screen.
  func present(_ key: Key, _ shown: StoredResource<Value>) -> Stamped<Value>? {
    guard let value = shown.value else { return nil }
    let later = value.older(by: Int64((scheduler.now() - shown.foundAt).nanoseconds))
    return usable(key) ?? (policy.isUsable(age: later.age) ? later : nil)
  }

  /// Returns the value in memory if it is usable.
  private func usable(_ key: Key) -> Stamped<Value>? {
    peek(key).flatMap { policy.isUsable(age: $0.age) ? $0 : nil }
  }

  /// Returns the value after an event: the one in memory, or else one that has been fetched, or
  /// else the one in the store below.
  ///
  /// The lookup follows the arrival of the change, and a change that arrives meanwhile leads to
  /// another lookup. So the order in which the events of several changes arrive does not matter.
  private func look(
    for key: Key, after event: KeyEvent<Value>
  ) -> Signal<StoredResource<Value>> {
    let origin = ResourceState<Value>.Origin(event)
    if let value = usable(key) ?? watchers.latest(event, of: key) {
      return .just(resource(value, origin))
    }
    let found = stored(key, Lookup(freshness: .cachedOnly).counting(.nothing))
      .filter { policy.isUsable(age: $0.age) }
      .map { resource($0, origin) }
    // A removed value is not shown until the store answers, nor if the store fails.
    let answer =
      event.isRemoval
      ? found.startWith(.nothing)
      : found.ifEmpty { .just(event.showsStoredOnly ? .nothing : .unchanged) }
    // Without a context: a state must not count as work for the caller that causes the event.
    return answer.recover { _ in .empty }.inContext(of: nil)
  }

  private func resource(
    _ value: Stamped<Value>, _ origin: ResourceState<Value>.Origin?
  ) -> StoredResource<Value> {
    StoredResource(value: value, foundAt: scheduler.now(), origin: origin)
  }
}

/// The value that is shown for a key, and its origin.
struct StoredResource<Value: Sendable>: Sendable {
  /// The value, with its age when it was found; nil if none is shown.
  var value: Stamped<Value>?
  var foundAt = Duration.zero

  /// The origin; nil if the event did not determine it.
  var origin: ResourceState<Value>.Origin?

  /// Whether the store had no value, though none was removed.
  var isUnchanged = false

  /// No value.
  static var nothing: StoredResource { StoredResource() }

  /// The value of before, unless it was set and could not be stored.
  static var unchanged: StoredResource { StoredResource(isUnchanged: true) }

  /// Returns a copy that takes over from the former resource what is not known otherwise.
  func after(_ former: StoredResource) -> StoredResource {
    if isUnchanged { return former.origin == .set ? .nothing : former }
    var copy = self
    copy.origin = value.map { _ in origin ?? former.origin ?? .kept }
    return copy
  }
}

/// The rule that shows a value no longer than it is usable.
struct UsableTimeRule<Content: Sendable>: TimedRule {
  typealias Value = StoredResource<Content>

  private let limit: Duration
  private(set) var deadline: Duration?

  /// Creates the rule for values that are usable up to an age.
  init(_ limit: Duration) {
    self.limit = .nanoseconds(limit.nanoseconds)  // clamped, so that a sum does not overflow
  }

  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let shown) = event else { return event }
    deadline = shown.value.map { shown.foundAt + limit - $0.age }
    return event
  }

  mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    return .next(.nothing)
  }
}
