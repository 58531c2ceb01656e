import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Fetches without a waiting caller, and reloads.
@Suite struct RememberedRefreshTests {
  @Test func `a refresh during a fetch starts one more fetch, and answers with the newer value`() {
    let scene = RememberedScene(.ten())
    let caller = scene.get()
    let refreshed = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    #expect(scene.fetches.count == 2)

    scene.answer(1, 2)
    scene.answer(0, 1)

    #expect(caller.values == [1])
    #expect(refreshed.values == [2])
    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a newer fetch overwrites an older one that answers first`() {
    let scene = RememberedScene(.ten())
    let caller = scene.get()
    scene.users.refresh("a")

    scene.answer(0, 1)
    #expect(caller.values == [1])
    scene.answer(1, 2)

    #expect(scene.get().values == [2])
  }

  @Test func `refreshes during a refresh share one more fetch, which starts after it`() {
    let scene = RememberedScene(.ten(), age: .zero)
    scene.users.refresh("a")
    let more = (0..<10).map { _ in Recorder<Int>().subscribe(to: scene.users.refresh("a")) }
    #expect(scene.fetches.count == 2)

    scene.answer(1, 2)
    #expect(scene.fetches.count == 3)
    #expect(more.allSatisfy { $0.values.isEmpty })
    scene.answer(2, 3)

    #expect(more.allSatisfy { $0.values == [3] })
    #expect(scene.get().values == [3])
    #expect(scene.fetches.count == 3)
  }

  @Test func `a refresh that waits for one that fails asks all the same`() {
    let scene = RememberedScene(.ten(), age: .zero)
    scene.users.refresh("a")
    let second = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.fetches[1].failed(Refused())
    scene.answer(2, 3)

    #expect(second.values == [3])
  }

  @Test func `a get during a refresh joins it, if the stored value is not enough`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    scene.users.refresh("a")
    let caller = scene.get()

    scene.answer(1, 2)

    #expect(caller.values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `the old value stays usable during a refresh, and if that fails`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let refreshed = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    #expect(scene.get().values == [1])

    scene.fail(Refused())

    #expect(refreshed.failure is Refused)
    #expect(scene.get().values == [1])
    #expect(scene.fetches.count == 2)
  }

  @Test
  func
    `a refresh that can't reach the origin answers with the stored value, if the policy allows it`()
  {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let refreshed = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.fail(Offline())

    #expect(refreshed.transcript == ["next 1", "completed"])
  }

  @Test(arguments: [StaleUse.onAnyError, .never, .atOnce])
  func `the policy decides whether a stale value stands in for a failed refresh`(use: StaleUse) {
    let scene = RememberedScene(.ten(stale: use), age: .seconds(11))
    let refused = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    scene.fail(Refused())
    let offline = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    scene.fail(Offline())

    #expect(refused.values == (use == .onAnyError ? [1] : []))
    #expect(offline.values == (use == .never ? [] : [1]))
  }

  @Test func `a value that is not usable any more does not stand in for a refresh`() {
    let scene = RememberedScene(.ten(usableFor: .after(.seconds(60))), age: .seconds(59))
    let refreshed = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.clock.advance(by: .seconds(1))
    scene.fail(Offline())

    #expect(refreshed.failure is Offline)
  }

  @Test func `a refresh continues without callers, and is stored`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.refresh("a")
    #expect(scene.origin.activeRuns == 1)

    scene.answer(2)

    #expect(scene.get().values == [2])
  }

  @Test func `a reload without callers is cancelled`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))

    scene.get(freshness: .reload).dispose()

    #expect(scene.fetches.count == 2)
    #expect(scene.origin.activeRuns == 0)
  }

  @Test func `a refresh ends with its deadline`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.refresh("a")

    scene.clock.advance(by: .seconds(29))
    #expect(scene.origin.activeRuns == 1)
    scene.clock.advance(by: .seconds(1))

    #expect(scene.origin.activeRuns == 0)
    #expect(scene.clock.pendingCount == 0)
  }

  @Test func `a refresh ends with what it was asked of`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.refresh("a")

    scene.release()

    #expect(scene.origin.activeRuns == 0)
    #expect(scene.clock.pendingCount == 0)
  }

  @Test func `a caller that waits for a refresh keeps it from its deadline`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let waiting = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.clock.advance(by: .seconds(31))
    scene.answer(2)

    #expect(waiting.values == [2])
  }

  @Test func `after a stale value the fetch continues for callers that have left`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(11))
    scene.get().dispose()
    #expect(scene.origin.activeRuns == 1)

    scene.answer(2)

    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
    #expect(scene.clock.pendingCount == 0)
  }

  @Test func `no more fetches continue without callers than the policy allows`() {
    let clock = ManualClock()
    let origin = TestOrigin<Int, Int>()
    let users = origin.remembered(
      in: MemoryCache(countLimit: 100, clock: clock), .ten(stale: .atOnce, maxRefreshes: 3),
      clock: clock)
    for key in 0..<10 { users.set(key, for: key) }
    clock.advance(by: .seconds(11))

    for key in 0..<10 { Recorder<Int>().subscribe(to: users.get(key)).dispose() }

    #expect(origin.activeRuns == 3)
  }

  @Test func `shortly before its end a value is fetched behind the caller's back, once`() {
    let scene = RememberedScene(.ten(refreshAhead: .seconds(2)), age: .seconds(7))
    #expect(scene.get().values == [1])
    #expect(scene.fetches.count == 1)

    scene.clock.advance(by: .seconds(2))
    #expect(scene.get().values == [1])
    #expect(scene.get().values == [1])
    #expect(scene.fetches.count == 2)
    scene.answer(2)

    #expect(scene.get().values == [2])
  }

  @Test
  func `a value removed during its fetch is not stored, and the waiting caller gets an answer`() {
    let scene = RememberedScene(.ten())
    let caller = scene.get()

    scene.users.remove("a")
    let later = scene.get()
    scene.answer(0, 1)

    #expect(caller.values == [1])
    #expect(caller.isCompleted)
    #expect(scene.memory.peek("a") == nil)
    scene.answer(1, 2)
    #expect(later.values == [2])
    #expect(scene.memory.peek("a") == 2)
  }

  @Test(arguments: [true, false])
  func `a removal cancels a refresh without subscribers`(isAll: Bool) {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.refresh("a")

    if isAll { scene.users.removeAll() } else { scene.users.remove("a") }

    #expect(scene.origin.activeRuns == 0)
  }

  @Test func `a refresh that waited for another when everything was removed stores nothing`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let first = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    let second = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.users.removeAll()
    scene.answer(1, 2)
    scene.answer(2, 3)

    #expect(first.values == [2])
    #expect(second.values == [3])
    #expect(scene.memory.peek("a") == nil)
  }

  @Test func `a refresh that waited when the key was set joins one that was asked for after that`()
  {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.refresh("a")
    let waiting = Recorder<Int>().subscribe(to: scene.users.refresh("a"))
    scene.users.set(5, for: "a")
    let later = Recorder<Int>().subscribe(to: scene.users.refresh("a"))

    scene.answer(1, 2)
    #expect(scene.fetches.count == 3)
    scene.answer(2, 3)

    #expect(waiting.values == [3])
    #expect(later.values == [3])
    #expect(scene.get().values == [3])
    #expect(scene.fetches.count == 3)
  }

  @Test func `a set during a fetch wins over the fetched value`() {
    let scene = RememberedScene(.ten())
    let caller = scene.get()

    scene.users.set(5, for: "a")
    scene.answer(1)

    #expect(caller.values == [1])
    #expect(scene.get().values == [5])
  }

  @Test func `a refresh that becomes urgent raises the priority at its origin`() {
    let scene = RememberedScene(.ten())
    let priorities = Locked<[Priority]>([])
    let origin = scene.origin
    let watching = LookupProbe(base: origin) { lookup in
      priorities.withLock { $0.append(lookup.priority) }
    }
    let users = watching.remembered(in: scene.memory, .ten(), clock: scene.clock)

    let caller = Recorder<Int>().subscribe(to: users.get("a", priority: .high))

    #expect(priorities.withLock { $0 } == [.high])
    caller.dispose()
  }
}

private struct LookupProbe: Source {
  let base: TestOrigin<String, Int>
  let probe: @Sendable (Lookup) -> Void

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    probe(lookup)
    return base.get(key, lookup)
  }
}
