public import MillpondSignals

/// A cache whose values are fresh for a while, and can be observed: a ``MultiplexerMap``, what
/// ``Source/remembered(in:_:clock:)`` returns, and either of them with a scope, a name or a monitor.
public protocol ObservableCache<Key, Value>: Cache {
  /// Returns the state of a key, now and after every change; subscribing fetches nothing.
  ///
  /// Shows what a get would: a stored value while it is usable by the policy, and also a fetched
  /// one for which there is no room, or that must not be stored. A value that is shown stays when
  /// the store evicts it, or when a time to live of its own ends, until it is not usable any more.
  /// One that was fetched for a get from before a write or a removal of the key, or from before the
  /// end of a scope, never appears, and after the end of the scope none is shown.
  ///
  /// The signal never ends. Values that are `Equatable` are not sent twice in a row in states that
  /// are equal, see ``ResourceState/==(_:_:)``; others may be sent again when they are looked up
  /// again. Changes made to the store itself, not through this cache, are not noticed.
  ///
  ///     users.states(of: 7).subscribeOnMain(onNext: { view.show($0) })
  func states(of key: Key) -> Signal<ResourceState<Value>>

  /// Returns the states of a key, as ``observe(_:every:refreshingOn:file:line:)`` does.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - interval: The age at which the value is fetched again; nil for none.
  ///   - trigger: Fetches the value again whenever it sends.
  ///   - lookup: The terms of the gets.
  func observe(
    _ key: Key, every interval: Duration?, refreshingOn trigger: Signal<Void>, _ lookup: Lookup
  ) -> Signal<ResourceState<Value>>

  /// Fetches a new value now, also without a caller: a soft refresh.
  ///
  /// The stored value stays usable during the fetch and after its failure. The fetch never joins
  /// one that has begun before. It is cancelled at the policy's deadline, by a write of the key, or
  /// when this cache is released, unless a caller still waits for it. Beyond the policy's number of
  /// refreshes it continues only while a caller waits.
  ///
  /// - Returns: The new value or the failure, which may be ignored. If the policy lets a stale
  ///   value replace this failure, the stored value, if it is usable.
  @discardableResult
  func refresh(_ key: Key) -> Signal<Value>

  /// Makes the stored value of a key stale, without asking the source: the next get fetches.
  ///
  ///     users.markStale(7)             // TanStack Query's invalidateQueries
  ///     users.get(7)                   // fetches; the old value stands in by the policy
  ///
  /// The answer of a fetch that has begun counts as stale too. A failure that the policy remembers
  /// still answers until its time is over. Nothing is sent to subscribers. The mark is lost with
  /// the process: a stored value that outlives it is stale by its age only.
  ///
  /// - Complexity: O(1). The marks of 4,096 keys are noted; with more, every value becomes stale.
  func markStale(_ key: Key)

  /// Makes every stored value stale, without asking the source: the next get of each key fetches.
  ///
  /// Otherwise the same as ``markStale(_:)``. Values that are set, or whose fetch begins
  /// afterwards, are fresh as usual.
  ///
  /// - Complexity: O(1).
  func markAllStale()
}

extension ObservableCache {
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
  /// - Returns: A signal that does not end by itself. It fails with ``CacheError/scopeEnded(key:)``
  ///   when the scope ends, if there is one, with ``CacheError/circular(key:)`` if a get would wait
  ///   for itself, and with the failure of the trigger.
  /// - Complexity: One timer for each observer with an interval.
  public func observe(
    _ key: Key, every interval: Duration? = nil, refreshingOn trigger: Signal<Void> = .never,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<ResourceState<Value>> {
    let lookup = Lookup(
      priority: .normal, freshness: .any, stale: nil, deadline: nil,
      place: placeInCode(file, line))
    return observe(key, every: interval, refreshingOn: trigger, lookup)
  }
}

// MARK: - Wrappers

extension Wrapper {
  /// Returns the states of the base.
  public func states(of key: Key) -> Signal<ResourceState<Value>>
  where Base: ObservableCache {
    base.states(of: key)
  }

  /// Returns the states of the base.
  public func observe(
    _ key: Key, every interval: Duration?, refreshingOn trigger: Signal<Void>, _ lookup: Lookup
  ) -> Signal<ResourceState<Value>> where Base: ObservableCache {
    base.observe(key, every: interval, refreshingOn: trigger, lookup)
  }

  /// Refreshes the base.
  public func refresh(_ key: Key) -> Signal<Value> where Base: ObservableCache {
    base.refresh(key)
  }

  /// Marks a value of the base.
  public func markStale(_ key: Key) where Base: ObservableCache {
    base.markStale(key)
  }

  /// Marks the values of the base.
  public func markAllStale() where Base: ObservableCache {
    base.markAllStale()
  }
}

extension Named: ObservableCache where Base: ObservableCache {}
extension Monitored: ObservableCache where Base: ObservableCache {}

extension Scoped: ObservableCache where Base: ObservableCache {
  /// Returns the states of the base, which fail when the scope ends.
  public func observe(
    _ key: Key, every interval: Duration?, refreshingOn trigger: Signal<Void>, _ lookup: Lookup
  ) -> Signal<ResourceState<Value>> {
    membership.untilEnd(
      base.observe(key, every: interval, refreshingOn: trigger, lookup), key)
  }

  /// Refreshes the base; the outcome fails when the scope ends.
  public func refresh(_ key: Key) -> Signal<Value> {
    let endCounts = membership.endCounts
    return membership.untilEnd(base.refresh(key), key, since: endCounts)
  }
}
