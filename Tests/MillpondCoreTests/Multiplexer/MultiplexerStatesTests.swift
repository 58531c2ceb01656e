import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MultiplexerStatesTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let multiplexer: Multiplexer<Int>
  let states = Recorder<ResourceState<Int>>()

  init() {
    let source = source
    multiplexer = Multiplexer(freshness: .ten(), clock: clock, signal: { source.signal })
  }

  private func last() throws -> ResourceState<Int> {
    try #require(states.values.last)
  }

  @Test func `it begins with what is known, and asks for nothing`() throws {
    multiplexer.set(1)
    clock.advance(by: .seconds(3))

    _ = states.subscribe(to: multiplexer.states)

    let state = try last()
    #expect(state.value == 1)
    #expect(state.age == .seconds(3))
    #expect(state.origin == .kept)
    #expect(!state.isLoading)
    #expect(state.error == nil)
    #expect(source.subscriptions == 0)
  }

  @Test func `of what is not known it begins with that`() throws {
    _ = states.subscribe(to: multiplexer.states)

    #expect(states.values.count == 1)
    #expect(try last().value == nil)
    #expect(try last().origin == nil)
  }

  @Test func `it reports when a fetch begins, and its answer`() throws {
    _ = states.subscribe(to: multiplexer.states)
    multiplexer.get().subscribe()
    #expect(try last().isLoading)

    source.next(4)
    source.completed()

    #expect(try last().value == 4)
    #expect(try last().origin == .fetched)
    #expect(try !last().isLoading)
  }

  @Test func `a watcher that comes during a fetch sees it`() throws {
    let caller = multiplexer.get().subscribe()
    _ = states.subscribe(to: multiplexer.states)
    #expect(try last().isLoading)

    caller.dispose()

    #expect(try !last().isLoading)
  }

  @Test func `a failure stands beside the last good value, until there is a new one`() throws {
    multiplexer.set(1)
    _ = states.subscribe(to: multiplexer.states)
    multiplexer.refresh()
    source.failed(Refused())
    #expect(try last().value == 1)
    #expect(try last().error is Refused)

    multiplexer.refresh()
    #expect(try last().error is Refused)
    #expect(try last().isLoading)
    source.next(2)
    source.completed()

    #expect(try last().value == 2)
    #expect(try last().error == nil)
  }

  @Test func `it says what is set, and what is cleared`() throws {
    _ = states.subscribe(to: multiplexer.states)

    multiplexer.set(9)
    #expect(try last().value == 9)
    #expect(try last().origin == .set)
    multiplexer.remove()
    #expect(try last().value == nil)
    #expect(try last().age == nil)
  }

  @Test func `the value of a fetch that comes too late is not shown as the stored one`() throws {
    multiplexer.get().subscribe()
    _ = states.subscribe(to: multiplexer.states)
    multiplexer.set(9)

    source.next(1)
    source.completed()

    #expect(try last().value == 9)
  }

  @Test func `the answer of a fetch from before a clear is not shown`() throws {
    _ = states.subscribe(to: multiplexer.states)
    let get = Recorder<Int>().subscribe(to: multiplexer.get())
    multiplexer.remove()

    source.next(1)
    source.completed()

    #expect(get.values == [1])
    #expect(states.values.allSatisfy { $0.value == nil })
    #expect(try !last().isLoading)
  }

  @Test func `after the end of the scope nothing is shown that was asked for before`() throws {
    let (scope, source) = (CacheScope(), CallbackSource<Int>())
    let multiplexer = Multiplexer<Int>(scope: scope, clock: clock, signal: { source.signal })
    _ = states.subscribe(to: multiplexer.states)
    multiplexer.get().subscribe()
    multiplexer.refresh()

    scope.end()
    for run in source.runs { run.send(.next(1)) }
    for run in source.runs { run.send(.completed) }

    #expect(states.values.allSatisfy { $0.value == nil })
    #expect(Recorder().subscribe(to: multiplexer.states).values.first?.value == nil)
  }

  @Test func `a persisted value that arrives after a clear is not shown`() throws {
    let kept = HeldCache()
    let source = source
    let multiplexer = Multiplexer<Int>(
      freshness: .ten(), persistence: Persistence(kept), clock: clock, signal: { source.signal })
    _ = states.subscribe(to: multiplexer.states)

    multiplexer.remove()
    kept.answer.next(Stamped(6))
    kept.answer.completed()

    #expect(states.values.allSatisfy { $0.value == nil })
  }

  @Test func `a set that a later removal has overtaken is not shown`() throws {
    let users = MultiplexerMap<String, Int>(over: TestOrigin())
    _ = states.subscribe(to: users.states(of: "value"))
    let earlier = Revision.next()
    users.remove("value")

    _ = users.apply(.set("value", 1, earlier))

    #expect(users.current("value") == nil)
    #expect(states.values.allSatisfy { $0.value == nil })
  }

  @Test func `an observer that has left receives nothing`() {
    _ = states.subscribe(to: multiplexer.states)
    let count = states.values.count

    states.dispose()
    multiplexer.set(1)

    #expect(states.values.count == count)
  }

  @Test func `the persisted value follows`() throws {
    let kept = TestCache<String, Int>()
    kept.set(6, for: "value")
    let source = source
    let multiplexer = Multiplexer<Int>(
      freshness: .ten(), persistence: Persistence(kept), clock: clock, signal: { source.signal })

    _ = states.subscribe(to: multiplexer.states)

    #expect(try last().value == 6)
    #expect(try last().origin == .kept)
    #expect(source.subscriptions == 0)
  }

  @Test(arguments: [true, false])
  func `a value fetched during a removal of everything is shown if it is persisted`(
    removesAll: Bool
  ) throws {
    let (kept, origin) = (Interrupted(), TestOrigin<String, Int>())
    let users = MultiplexerMap(over: origin, persistence: Persistence(kept), clock: clock)
    _ = states.subscribe(to: users.states(of: "a"))
    // Between the arrival of the removal there and its arrival in memory.
    kept.afterRemoval = { users.get("a").subscribe() }

    _ = removesAll ? users.removeAll() : users.remove("a")
    kept.afterRemoval = {}
    origin["a"].next(1)
    origin["a"].completed()

    #expect(kept.base.contents == ["a": 1])
    #expect(try last().value == 1)
  }

  @Test func `many watchers of a key share one lookup of the persistence for each change`() throws {
    let persisted = TestCache<String, Int>()
    persisted.set(6, for: "a")
    let users = MultiplexerMap(
      over: TestOrigin<String, Int>(), persistence: Persistence(persisted), clock: clock)
    let watchers = (0..<10).map { _ in Recorder().subscribe(to: users.states(of: "a")) }
    #expect(watchers.allSatisfy { $0.values.last?.value == 6 })
    #expect(persisted.gets.count == 1)

    users.remove("a")

    #expect(watchers.allSatisfy { $0.values.last?.value == nil })
    #expect(persisted.gets.count == 2)
  }

  @Test func `a watcher beside others begins with the present age, error and loading`() throws {
    multiplexer.set(1)
    let first = Recorder().subscribe(to: multiplexer.states)
    clock.advance(by: .seconds(4))
    multiplexer.refresh()

    _ = states.subscribe(to: multiplexer.states)

    #expect(first.values.count == 2)
    #expect(states.values.count == 1)
    #expect(try last().age == .seconds(4))
    #expect(try last().isLoading)
  }

  @Test func `a value that memory has evicted stays on the screen, without another lookup`() throws
  {
    let persisted = TestCache<String, Int>()
    let users = MultiplexerMap(
      over: TestOrigin<String, Int>(), countLimit: 1, persistence: Persistence(persisted),
      clock: clock)
    let watchers = (0..<10).map { _ in Recorder().subscribe(to: users.states(of: "a")) }
    users.set(1, for: "a")
    users.set(2, for: "b")
    #expect(users.current("a") == nil)
    let count = persisted.gets.count

    users.refresh("a")
    _ = states.subscribe(to: users.states(of: "a"))

    // The reload looks there for what it can ask about.
    #expect(persisted.gets.count <= count + 1)
    #expect(try last().value == 1 && last().isLoading)
    #expect(watchers.allSatisfy { $0.values.last?.value == 1 })
    users.remove("a")
    #expect(try last().value == nil)
  }

  @Test func `a value is shown no longer than it is usable, by new observers and by old ones`()
    throws
  {
    let users = MultiplexerMap(
      over: TestOrigin<String, Int>(), freshness: .ten(usableFor: .after(.seconds(30))),
      clock: clock)
    users.set(1, for: "a")
    _ = states.subscribe(to: users.states(of: "a"))
    clock.advance(by: .seconds(29))
    #expect(Recorder().subscribe(to: users.states(of: "a")).values.last?.value == 1)

    clock.advance(by: .seconds(1))

    #expect(try last().value == nil)
    #expect(Recorder().subscribe(to: users.observe("a")).values.last?.value == nil)
    users.set(2, for: "a")
    #expect(try last().value == 2)
  }

  @Test func `a fetched value that must not be stored is shown, until the key is removed`() throws {
    let origin = TestOrigin<String, Stamped<Int>>()
    let users = MultiplexerMap(over: Unstored(origin: origin), clock: clock)
    _ = states.subscribe(to: users.observe("a"))

    origin["a"].next(Stamped(1, timeToLive: .after(.zero)))
    origin["a"].completed()
    #expect(users.current("a") == nil)
    #expect(try last().value == 1 && !last().isLoading)
    #expect(try last().origin == .fetched)
    users.remove("a")

    #expect(try last().value == nil)
  }

  @Test func `a fetched value for which memory has no room is shown`() {
    let users = MultiplexerMap<Int, Int>(countLimit: 20, signal: { .just($0) })
    for _ in 0..<10 { for key in 0..<20 { users.get(key).subscribe() } }

    let shown = (20..<40).map { key in
      Recorder().subscribe(to: users.observe(key)).values.last?.value
    }

    #expect(shown == Array(20..<40))
  }

  @Test func `after a success that must not be stored the failure of before is not shown`() throws {
    let origin = TestOrigin<String, Stamped<Int>>()
    let users = MultiplexerMap(over: Unstored(origin: origin), clock: clock)
    _ = states.subscribe(to: users.observe("a"))
    origin["a"].failed(Refused())
    #expect(try last().error is Refused)

    users.refresh("a")
    origin["a"].next(Stamped(1, timeToLive: .after(.zero)))
    origin["a"].completed()

    #expect(try last().error == nil)
  }

  @Test func `a value that is not usable is not shown when a get brings it into memory`() throws {
    let persisted = TestCache<String, Int>()
    let users = MultiplexerMap(
      over: TestOrigin<String, Int>(),
      freshness: FreshnessPolicy(usableFor: .after(.seconds(10))),
      persistence: Persistence(persisted), clock: clock)
    persisted.apply(.fill("a", Stamped(1, age: .seconds(20)), FillToken())).subscribe()
    _ = states.subscribe(to: users.states(of: "a"))
    #expect(try last().value == nil)

    users.get("a", freshness: .cachedOnly).subscribe()

    #expect(users.current("a") == 1)
    #expect(try last().value == nil)
  }

  @Test func `after the last watcher has left, the next one begins anew`() throws {
    let persisted = TestCache<String, Int>()
    let users = MultiplexerMap(
      over: TestOrigin<String, Int>(), persistence: Persistence(persisted), clock: clock)
    Recorder().subscribe(to: users.states(of: "a")).dispose()
    persisted.set(5, for: "a")

    _ = states.subscribe(to: users.states(of: "a"))

    #expect(try last().value == 5)
  }

  @Test func `threads that set and clear leave the last state right`() async throws {
    _ = states.subscribe(to: multiplexer.states)
    let multiplexer = multiplexer

    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for round in 0..<200 {
            if round % 10 == 9 {
              multiplexer.remove()
            } else {
              multiplexer.set(thread * 1_000 + round)
            }
          }
        }
      }
    }

    #expect(try last().value == multiplexer.current)
  }
}

/// An origin that says how long its answers may be stored.
private struct Unstored: AnsweringSource {
  let origin: TestOrigin<String, Stamped<Int>>

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    origin.get(key, lookup).map { .value($0) }
  }
}

/// A cache with an action right after a removal.
private final class Interrupted: Cache, @unchecked Sendable {
  // Sendable because one thread uses it.
  let base = TestCache<String, Int>()
  var afterRemoval: @Sendable () -> Void = {}

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    base.get(key, lookup)
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    let outcome = base.apply(change)
    switch change {
    case .remove, .removeAll, .removeMatching: afterRemoval()
    case .set, .fill: break
    }
    return outcome
  }
}

/// A cache whose answers are held back, and that forgets nothing that it has begun to answer.
private final class HeldCache: Cache, AnsweringSource {
  let answer = TestSource<Stamped<Int>>()
  private let isEmpty = Locked(false)

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    .deferred { self.isEmpty.withLock { $0 } ? .empty : self.answer.signal.map { .value($0) } }
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    if !change.isFill { isEmpty.withLock { $0 = true } }
    return .just(())
  }
}
