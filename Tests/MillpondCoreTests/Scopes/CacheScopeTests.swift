import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CacheScopeTests {
  let scope = CacheScope()
  let origin = TestOrigin<String, Int>()
  let disk = TestCache<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 100)
  let caller = Recorder<Int>()

  struct Trouble: Error {}

  var cache:
    Scoped<
      InFlightReuse<
        Layered<MemoryCache<String, Int>, Layered<TestCache<String, Int>, TestOrigin<String, Int>>>
      >
    >
  {
    memory.layered(over: disk.layered(over: origin)).reusingInFlight().scoped(to: scope)
  }

  @Test func `waiting callers fail before the end returns, and the work is cancelled`() {
    let cache = cache
    caller.subscribe(to: cache.get("a"))

    scope.end()

    guard case CacheError.scopeEnded? = caller.failure else {
      Issue.record("\(caller.transcript)")
      return
    }
    #expect(origin["a"].activeRuns == 0)
  }

  @Test func `memory and disk are wiped`() {
    let cache = cache
    cache.set(1, for: "a")

    let outcome = Recorder<Void>().subscribe(to: scope.end())

    #expect(outcome.isCompleted)
    #expect(memory.count == 0 && disk.contents.isEmpty)
  }

  @Test func `a fetch under way stores nothing`() {
    let inner = memory.layered(over: disk.layered(over: origin)).reusingInFlight()
    let cache = inner.scoped(to: scope)
    // A caller outside of the scope waits for the same flight, and so keeps it running.
    let other = Recorder<Int>().subscribe(to: inner.get("a"))
    caller.subscribe(to: cache.get("a"))

    scope.end()
    origin["a"].next(1)
    origin["a"].completed()

    #expect(other.values == [1])
    #expect(memory.count == 0 && disk.contents.isEmpty)
    #expect(caller.values == [])
  }

  @Test func `a get from inside the failure finds nothing of before`() {
    let cache = cache
    cache.set(1, for: "b")
    let again = Recorder<Int>()
    cache.get("a").subscribe(onFailed: { _ in
      again.subscribe(to: cache.get("b"))
    })

    scope.end()

    #expect(again.values == [] && !again.isCompleted)
    origin["b"].next(2)
    #expect(again.values == [2])
  }

  @Test func `afterwards it serves the next one, and can end again`() {
    let cache = cache
    scope.end()
    caller.subscribe(to: cache.get("a"))
    origin["a"].next(7)
    origin["a"].completed()
    #expect(caller.transcript == ["next 7", "completed"])

    scope.end()
    #expect(memory.count == 0)
  }

  @Test func `all caches are notified, also if one fails, and the failure is reported`() {
    struct Failing: Cache {
      func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }
      func apply(_ change: Change<String, Int>) -> Signal<Void> { .fail(Trouble()) }
    }
    _ = Failing().scoped(to: scope)
    let cache = cache
    cache.set(1, for: "a")

    let outcome = Recorder<Void>().subscribe(to: scope.end())

    #expect(outcome.failure is Trouble)
    #expect(memory.count == 0)
  }

  @Test func `of nothing it succeeds`() {
    let outcome = Recorder<Void>().subscribe(to: scope.end())

    #expect(outcome.isCompleted)
  }

  @Test func `completed callers are not notified`() {
    let cache = cache
    cache.set(1, for: "a")
    caller.subscribe(to: cache.get("a"))
    let left = Recorder<Int>().subscribe(to: cache.get("b"))
    left.dispose()

    scope.end()

    #expect(caller.transcript == ["next 1", "completed"])
    #expect(left.transcript == [])
  }

  @Test func `a hit costs nothing more and comes at once`() {
    let cache = cache
    cache.set(1, for: "a")

    #expect(cache.now("a", Lookup()) == 1)
  }
}
