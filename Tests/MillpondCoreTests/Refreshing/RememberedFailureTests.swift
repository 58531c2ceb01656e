import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Failures that are remembered for a while.
@Suite struct RememberedFailureTests {
  let scene = RememberedScene(.ten { $0 is Refused ? .seconds(5) : .zero })

  @Test func `a failure is not remembered unless the policy says so`() {
    _ = scene.get()
    scene.fail(Offline())

    let next = scene.get()

    #expect(next.end == nil)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure is the answer for its life, and no longer`() {
    _ = scene.get()
    scene.fail(Refused())

    scene.clock.advance(by: .seconds(4))
    #expect(scene.get().failure is Refused)
    #expect(scene.fetches.count == 1)
    scene.clock.advance(by: .seconds(1))
    _ = scene.get()
    #expect(scene.fetches.count == 2)
  }

  @Test func `an answer without a value is a miss for its life, and no longer`() {
    let scene = RememberedScene(
      .ten { if case CacheError.miss = $0 { .seconds(5) } else { .zero } })
    _ = scene.get()
    scene.origin["a"].completed()

    scene.clock.advance(by: .seconds(4))
    #expect(scene.get().transcript == ["completed"])
    #expect(scene.fetches.count == 1)
    let shown = Recorder<ResourceState<Int>>().subscribe(to: scene.users.states(of: "a"))
    #expect(shown.values.last?.error == nil)
    scene.clock.advance(by: .seconds(1))
    _ = scene.get()
    #expect(scene.fetches.count == 2)
  }

  @Test func `a write ends a remembered miss`() {
    let scene = RememberedScene(.ten { _ in .seconds(5) })
    _ = scene.get()
    scene.origin["a"].completed()

    scene.users.set(3, for: "a")

    #expect(scene.get().values == [3])
  }

  @Test func `a reload fetches anyway, and its answer ends the failure`() {
    _ = scene.get()
    scene.fail(Refused())

    let reload = scene.get(freshness: .reload)
    scene.answer(2)

    #expect(reload.values == [2])
    #expect(scene.get().values == [2])
  }

  @Test func `a write ends the failure`() {
    _ = scene.get()
    scene.fail(Refused())

    scene.users.remove("a")
    _ = scene.get()

    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure that comes after a write of the key is not remembered`() {
    _ = scene.get()
    scene.users.remove("a")
    scene.fail(Refused())

    _ = scene.get()

    #expect(scene.fetches.count == 2)
  }

  @Test func `a late answer that is not stored does not end a newer failure`() {
    _ = scene.get()
    scene.users.remove("a")
    _ = scene.get()
    scene.fetches[1].failed(Refused())

    scene.answer(0, 1)

    #expect(scene.get().failure is Refused)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure that comes after the answer to a later question is not remembered`() {
    _ = scene.get()
    _ = scene.get(freshness: .reload)
    scene.answer(1, 1)
    scene.fetches[0].failed(Refused())

    scene.clock.advance(by: .seconds(1))
    _ = scene.get(freshness: .atMost(.zero))

    #expect(scene.fetches.count == 3)
  }

  @Test func `a failure that comes after the answer to an earlier question is remembered`() {
    _ = scene.get()
    _ = scene.get(freshness: .reload)
    scene.answer(0, 1)
    scene.fetches[1].failed(Refused())

    scene.clock.advance(by: .seconds(1))

    #expect(scene.get(freshness: .atMost(.zero)).failure is Refused)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure does not prolong that of a later reload`() {
    _ = scene.get()
    _ = scene.get(freshness: .reload)
    scene.fetches[1].failed(Refused())
    scene.clock.advance(by: .seconds(3))
    scene.fetches[0].failed(Refused())

    #expect(scene.get().failure is Refused)
    scene.clock.advance(by: .seconds(2))
    _ = scene.get()
    #expect(scene.fetches.count == 3)
  }

  @Test func `a failure of a fetch that has answered before is not remembered`() {
    _ = scene.get()
    scene.fetches[0].next(1)
    scene.fetches[0].failed(Refused())

    scene.clock.advance(by: .seconds(1))
    _ = scene.get(freshness: .atMost(.zero))

    #expect(scene.fetches.count == 2)
  }

  @Test func `a fetch that every get has left is neither stored nor a failure to remember`() {
    let origin = LateOrigin()
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let users = origin.remembered(in: memory, .ten { _ in .seconds(5) })
    users.get("a").subscribe().dispose()
    users.get("a").subscribe().dispose()
    let get = Recorder<Int>().subscribe(to: users.get("a"))
    origin.source.runs[2].send(.next(3))
    origin.source.runs[2].send(.completed)

    origin.source.runs[0].send(.next(1))
    origin.source.runs[1].send(.failed(Refused()))

    #expect(get.values == [3])
    #expect(memory.peek("a") == 3)
    #expect(Recorder<Int>().subscribe(to: users.get("a")).values == [3])
  }

  @Test func `a stale value stands in for a remembered failure as for a new one`() {
    let scene = RememberedScene(
      .ten(stale: .onAnyError) { $0 is Refused ? .seconds(5) : .zero }, age: .seconds(11))
    _ = scene.get()
    scene.fail(Refused())

    let next = scene.get()

    #expect(next.values == [1])
    #expect(next.isCompleted)
    #expect(scene.fetches.count == 2)
  }
}

/// An origin that answers also when it was cancelled.
private struct LateOrigin: Source {
  let source = CallbackSource<Int>()

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    source.signal
  }
}
