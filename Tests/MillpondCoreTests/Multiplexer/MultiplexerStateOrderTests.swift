import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// States of keys that memory no longer keeps, at the meeting of writes and fills.
@Suite(.timeLimit(.minutes(1))) struct MultiplexerStateOrderTests {
  let clock = ManualClock()
  let kept = TestCache<String, Int>()
  let states = Recorder<ResourceState<Int>>()

  private func map(
    over source: some Source<String, Int> = EmptyCache(),
    _ cache: some Cache<String, Int>
  ) -> MultiplexerMap<String, Int> {
    MultiplexerMap(
      over: source, freshness: FreshnessPolicy(), persistence: Persistence(cache),
      clock: clock)
  }

  private var shown: Int? {
    states.values.last?.value
  }

  @Test func `a fetch that a write overtakes stays shown when the write is reported`() {
    let origin = Leaving()
    let users = map(over: origin, kept)
    states.subscribe(to: users.states(of: "a"))
    users.refresh("a")
    // After the set has arrived in all layers, and before its call returns.
    origin.onLeave { [users] in
      users.refresh("a")
      origin.answer(1, with: 2)
      users.memory.trim(to: 0)
    }

    users.set(1, for: "a")

    #expect(users.current("a") == nil)
    #expect(kept.contents["a"] == 2)
    #expect(shown == 2)
  }

  @Test func `a set that can't be saved is not shown when memory has dropped it`() {
    let outcome = Promise<Void>()
    let users = map(
      Intercepted(base: kept) { change, base in
        guard case .set("a", _, _) = change else { return nil }
        _ = base.apply(change)
        return outcome.outcome
      })
    states.subscribe(to: users.states(of: "a"))
    users.set(1, for: "a")
    users.memory.trim(to: 0)

    outcome.keep(by: .fail(Refused()))

    #expect(users.current("a") == nil)
    #expect(kept.contents["a"] == nil)
    #expect(shown == nil)
  }

  @Test func `a fetched value that is saved late is shown, though memory has dropped it`() {
    let (origin, encoded) = (TestOrigin<String, Int>(), Locked<[@Sendable () -> Void]>([]))
    let cache = Intercepted(base: kept) { change, base in
      guard change.isFill else { return nil }
      let (promise, change) = (Promise<Void>(), change.accepted)
      encoded.withLock { $0.append { promise.keep(by: base.apply(change)) } }
      return promise.outcome
    }
    let users = map(over: origin, cache)
    states.subscribe(to: users.states(of: "a"))
    users.get("a").subscribe()
    origin["a"].next(1)
    origin["a"].completed()
    users.memory.trim(to: 0)
    users.remove("a")
    users.get("a").subscribe()
    origin["a"].next(2)
    origin["a"].completed()
    users.memory.trim(to: 0)

    for save in encoded.withLock({ $0 }) { save() }

    #expect(users.current("a") == nil)
    #expect(kept.contents["a"] == 2)
    #expect(shown == 2)
  }

  @Test func `what is fetched while a removal is under way is nowhere afterwards`() {
    let origin = TestOrigin<String, Int>()
    let fetch = Locked<@Sendable () -> Void>({})
    let users = map(
      over: origin,
      Intercepted(base: kept) { change, _ in
        if case .removeMatching = change { fetch.withLock { $0 }() }
        return nil
      })
    states.subscribe(to: users.states(of: "a"))
    // The disk is asked first, so memory still has to be reached.
    fetch.withLock { $0 = { [users] in users.get("a").subscribe() } }

    _ = users.removeAll { $0 == "a" }
    origin["a"].next(1)
    origin["a"].completed()

    #expect(users.current("a") == nil)
    #expect(kept.contents["a"] == nil)
    #expect(shown == nil)
  }

  @Test func `a value is shown that was stored when its last caller left`() {
    let origin = TestOrigin<String, Int>()
    let leave = Locked<@Sendable () -> Void>({})
    let users = map(
      over: origin,
      Intercepted(base: kept) { change, base in
        guard change.isFill else { return nil }
        let stored = base.apply(change)
        leave.withLock { $0 }()
        return stored
      })
    states.subscribe(to: users.states(of: "a"))
    let get = users.get("a").subscribe()
    leave.withLock { $0 = { get.dispose() } }

    origin["a"].next(1)

    #expect(kept.contents["a"] == 1)
    #expect(shown == 1)
  }

  @Test func `to watch a key is not to ask for it`() {
    kept.set(1, for: "a")
    let users = map(kept)

    states.subscribe(to: users.states(of: "a"))
    users.remove("a")

    #expect(states.values.map(\.value) == [1, nil])
    #expect(users.memory.statistics.hits + users.memory.statistics.misses == 0)
  }

  @Test func `a value that a flush removes is not shown any more`() {
    let isBroken = Locked(true)
    let users = map(
      Intercepted(base: kept) { change, _ in
        guard case .remove = change, isBroken.withLock({ $0 }) else { return nil }
        return .fail(Refused())
      })
    kept.set(1, for: "a")
    users.remove("a")
    states.subscribe(to: users.states(of: "a"))
    #expect(users.current("a") == nil && shown == nil)
    isBroken.withLock { $0 = false }

    users.flush()

    #expect(kept.contents["a"] == nil)
    #expect(shown == nil)
  }
}

/// An origin with an action for the moment when its first subscriber leaves.
private final class Leaving: Source {
  private let observers = Locked<[Observer<Int>]>([])
  private let act = Locked<@Sendable () -> Void>({})

  func onLeave(_ act: @escaping @Sendable () -> Void) {
    self.act.withLock { $0 = act }
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    Signal { observer, lifetime in
      let isFirst = self.observers.withLock { observers in
        observers.append(observer)
        return observers.count == 1
      }
      if isFirst { lifetime.onEnd { self.act.withLock { $0 }() } }
    }
  }

  func answer(_ number: Int, with value: Int) {
    let observer = observers.withLock { $0[number] }
    observer.next(value)
    observer.completed()
  }
}

/// A cache some of whose changes end in another way.
private struct Intercepted: Cache {
  let base: TestCache<String, Int>
  let outcome: @Sendable (Change<String, Int>, TestCache<String, Int>) -> Signal<Void>?

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    base.get(key, lookup)
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    outcome(change, base) ?? base.apply(change)
  }
}
