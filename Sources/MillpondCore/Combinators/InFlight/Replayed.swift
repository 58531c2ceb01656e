public import MillpondSignals

extension Source {
  /// The dictionary of replayed signals: what is asked for is kept in `memory`, and what is under way
  /// is shared, in one table.
  ///
  /// It answers as `memory.layered(over: self).reusingInFlight()` does, with one step under one lock
  /// where that has several: an ask finds the value, or joins the flight, or starts it, and a value
  /// is kept in the place where its flight was, so that no ask comes between. What is under way
  /// weighs nothing and is never evicted; its number is limited by itself.
  ///
  /// - Parameters:
  ///   - memory: Where values are kept, by its limits. It should serve no other source.
  ///   - maxFlights: How many keys may be under way and shared; what is asked for beyond that runs
  ///     for its asker alone. Of zero or less, nothing is shared. Threads that ask for different keys
  ///     at the same moment may exceed it by their number.
  ///   - clock: By which the age of flights is told.
  @inlinable
  public func replayed(
    in memory: MemoryCache<Key, Value>, maxFlights: Int = 10_000,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Replayed<Self> {
    Replayed(base: self, memory, maxFlights, clock)
  }
}

/// A source or cache over a dictionary of replayed signals.
public struct Replayed<Base: Source>: Cache {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let memory: MemoryCache<Key, Value>
  @usableFromInline let flights: Flights<MemoryShards<Key, Value>>
  @usableFromInline let maxFlights: Int

  @inlinable
  init(
    base: Base, _ memory: MemoryCache<Key, Value>, _ maxFlights: Int, _ clock: some Clock<Duration>
  ) {
    self.base = base
    self.memory = memory
    self.maxFlights = maxFlights
    flights = Flights(in: memory.shards, Timeline(clock))
  }

  /// What is in memory, or what the flight of the key brings.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    getStamped(key, lookup).map { $0.value }
  }

  /// What is in memory, or what the flight of the key brings.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    switch lookup.freshness {
    case .any, .atMost: shared(key, lookup)
    case .cachedOnly: memory.layered(over: base).getStamped(key, lookup)
    case .reload:
      flights.runAlone(key, lookup) { memory.layered(over: base).getStamped(key, lookup) }
    }
  }

  /// What is in memory.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    memory.now(key, lookup)
  }

  /// Tells the base, then memory, and lets go of the flights that are older.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = memory.layered(over: base).apply(change)
    switch change {
    case .set(let key, _, _), .remove(let key, _): flights.detach(key)
    case .removeAll: flights.detachAll()
    case .fill: break
    }
    return outcome
  }

  /// Memory over the base, and the flights.
  public func layout(for key: Key?) -> Layout {
    Layout(
      .layers, "replayed in", parts: [memory.layout(for: key), base.layout(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { [flights] in flights.census() })
  }

  @inlinable
  func shared(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let now = memory.time.now()
      let hash = MemoryHash(key)
      var move = MemoryMove<Key, Value>(now)
      let decision = memory.shards.withStore(hash) { store -> ReplayedDecision<Value> in
        if let stamped = store.look(key, hash, lookup.freshness, .everything, &move) {
          return .hit(stamped)
        }
        // Before the lock is free: a write that comes between the miss and the fill has to win.
        let asked = Revision.next()
        if memory.shards.flightTotal.count >= maxFlights, store.flights.byKey[key] == nil {
          return .runsAlone(asked)
        }
        return .flies(flights.enter(&store.flights, key, lookup) { fromBelow(key, $0, asked) })
      }
      memory.shards.finish(&move)
      switch decision {
      case .hit(let stamped):
        if lookup.isHeard { report(.hit(age: stamped.age), key, lookup) }
        observer.next(stamped)
        observer.completed()
      case .flies(let entrance): flights.board(entrance, key, lookup, observer, lifetime)
      case .runsAlone(let asked): fromBelow(key, lookup, asked).run(observer, lifetime)
      }
    }
  }

  /// The answer of the base; each value is kept, unless the flight has been let go.
  @inlinable
  func fromBelow(
    _ key: Key, _ lookup: Lookup, _ asked: Revision
  ) -> Signal<Stamped<Value>> {
    Signal { [base, memory] observer, lifetime in
      if lookup.isHeard { report(.miss, key, lookup) }
      let token = FillToken(asked, false, lifetime)
      base.layerAnswer(key, lookup).run(
        observer.replacingNext { stamped in
          _ = memory.apply(.fill(key, stamped, token))
          observer.next(stamped)
        }, lifetime)
    }
  }

  @usableFromInline
  func report(_ kind: CacheEvent.Kind, _ key: Key, _ lookup: Lookup) {
    lookup.report(kind, layer: memory.layout(for: nil).label, key: key)
  }
}

/// What an ask finds.
@usableFromInline
enum ReplayedDecision<Value: Sendable>: Sendable {
  case hit(Stamped<Value>)
  case flies(Entrance<Value>)
  case runsAlone(Revision)
}
