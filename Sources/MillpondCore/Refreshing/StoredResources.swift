import MillpondSignals

/// The stored value of each watched key, now and after every change, as a source that never ends.
///
/// Fetches nothing, and sends once more when a fetch of the key begins or ends.
struct StoredResources<Key: Hashable & Sendable, Value: Sendable>: Source {
  /// Returns the value in memory, without counting this as a use; nil if it is elsewhere.
  let peek: @Sendable (Key) -> Stamped<Value>?

  /// Looks up the stored value if it is not in memory.
  let stored: @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  let watchers: KeyWatchers<Key>
  let policy: FreshnessPolicy
  let scheduler: Scheduler

  func get(_ key: Key, _ lookup: Lookup) -> Signal<StoredResource<Value>> {
    // Subscribes to the events first, so that none is missed.
    let resource = watchers.events(of: key)
      // Changes below a value in memory are not visible.
      .filter { [peek] in $0.isChange && ($0 != .settled || peek(key) == nil) }
      .merge(.just(.removed))
      .flatMap(.latest) { look(for: key, after: $0) }
      .scan(StoredResource.nothing) { $1.after($0) }
    let fetches = watchers.events(of: key).filter { !$0.isChange }.map { _ in () }.merge(.just(()))
    return combineLatest(resource, fetches).map { resource, _ in resource }
  }

  /// Returns the stored value after an event: the one in memory, or else the one in the store
  /// below.
  ///
  /// The lookup follows the arrival of the change, and a change that arrives meanwhile leads to
  /// another lookup. So the order in which the events of several changes arrive does not matter.
  private func look(for key: Key, after event: KeyEvent) -> Signal<StoredResource<Value>> {
    let provenance = ResourceState<Value>.Provenance(event)
    if let stamped = peek(key) {
      return .just(resource(stamped, provenance, isInMemory: true))
    }
    let found = stored(key, Lookup(freshness: .cachedOnly).counting(.nothing))
      .filter { policy.isUsable(age: $0.age) }
      .map { resource($0, provenance, isInMemory: false) }
    // A removed value is not shown until the store answers, nor if the store fails.
    let answer =
      event == .removed ? found.startWith(.nothing) : found.ifEmpty { .just(.nothing) }
    // Without a context: a state must not count as work for the caller that causes the event.
    return answer.recover { _ in .empty }.inContext(of: nil)
  }

  /// Returns the value of a resource with its present age, if it is still usable.
  func usable(_ kept: StoredResource<Value>) -> Stamped<Value>? {
    guard let value = kept.value else { return nil }
    let later = value.older(by: Int64((scheduler.now() - kept.foundAt).nanoseconds))
    return policy.isUsable(age: later.age) && later.rest > 0 ? later : nil
  }

  private func resource(
    _ value: Stamped<Value>, _ provenance: ResourceState<Value>.Provenance?, isInMemory: Bool
  ) -> StoredResource<Value> {
    StoredResource(
      value: value, foundAt: scheduler.now(), provenance: provenance, isInMemory: isInMemory)
  }
}

/// The value found in the store for a key, and its provenance.
struct StoredResource<Value: Sendable>: Sendable {
  /// The value, with its age when it was found; nil if none is stored.
  var value: Stamped<Value>?
  var foundAt = Duration.zero

  /// The provenance; nil if the event did not determine it.
  var provenance: ResourceState<Value>.Provenance?

  /// Whether the value was found in memory, which may evict it without an event.
  var isInMemory = false

  /// No value.
  static var nothing: StoredResource { StoredResource() }

  /// Returns a copy that takes over the provenance of the former value if its own is unknown.
  func after(_ former: StoredResource) -> StoredResource {
    var copy = self
    copy.provenance = value.map { _ in provenance ?? former.provenance ?? .kept }
    return copy
  }
}
