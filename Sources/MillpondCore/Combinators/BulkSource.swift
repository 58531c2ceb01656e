public import MillpondSignals

/// What can be asked for many keys with one call.
///
///     let people = BulkSource<Int, Person> { ids in .async { try await api.people(ids) } }
///       .batching(window: .milliseconds(10), max: 50)
///     let cache = memory.layered(over: people).reusingInFlight()
public struct BulkSource<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let get: @Sendable ([Key]) -> Signal<[Key: Value]>

  /// Makes a source of a call.
  ///
  /// - Parameter get: Is called with different keys, at least one, in the order in which they were
  ///   asked for. It may send several dictionaries: each answers the keys it has. A key that none of
  ///   them has is a miss; a failure is that of all keys that have not been answered.
  public init(_ get: @escaping @Sendable ([Key]) -> Signal<[Key: Value]>) {
    self.get = get
  }

  /// Gathers single gets for a while, and answers each from one call for all of them.
  ///
  /// The window opens with the first get. Who leaves before it closes is not asked for; who leaves
  /// later is not served, and when the last one has left the call is cancelled. A key that is asked
  /// for again while its call is under way becomes part of the next one: put
  /// ``Source/reusingInFlight(clock:)`` over this, and it joins instead. The progress of a call is that
  /// of each of its gets. Priority is not regarded.
  ///
  /// - Parameters:
  ///   - window: For how long to gather. Of zero or less: until a timer that is set now can fire,
  ///     which gathers what one loop asks for, without a promise.
  ///   - max: How many keys make a call at once, before the window closes; less than one is taken
  ///     as one.
  /// - Returns: A source whose copies gather together.
  public func batching(
    window: Duration, max: Int, clock: some Clock<Duration> = ContinuousClock()
  ) -> Batched<Key, Value> {
    Batched(batches: Batches(window: window, max: max, Timeline(clock), get))
  }
}

/// A source that gathers gets, and makes one call for many of them.
public struct Batched<Key: Hashable & Sendable, Value: Sendable>: Source {
  let batches: Batches<Key, Value>

  /// The key's part of a call that others share.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { observer, lifetime in batches.enter(key, observer, lifetime) }
  }

  /// One origin.
  public func layout(for key: Key?) -> Layout {
    Layout(.origin, "batched")
  }
}
