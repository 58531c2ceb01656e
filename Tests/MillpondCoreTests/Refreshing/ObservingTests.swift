import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ObservingTests {
  typealias State = ResourceState<Int>

  private let pulls = PublishSubject<Void>()

  private func observed(
    _ scene: RememberedScene, every interval: Duration? = nil
  ) -> Recorder<State> {
    Recorder().subscribe(
      to: scene.users.observe("a", every: interval, refreshingOn: pulls.signal))
  }

  @Test func `a missing value is fetched, and its states are sent`() {
    let scene = RememberedScene(.ten())

    let states = observed(scene)
    scene.answer(1)

    #expect(states.values.map(\.value) == [nil, nil, 1, 1])
    #expect(states.values.map(\.isLoading) == [false, true, true, false])
    #expect(states.values.map(\.isSettled) == [false, false, false, true])
    #expect(states.values.last?.origin == .fetched)
    #expect(states.end == nil)
  }

  @Test func `a fresh value is shown and not fetched`() {
    let scene = RememberedScene(.ten(), age: .seconds(9))

    let states = observed(scene)

    #expect(states.values.map(\.value) == [1])
    #expect(states.values.map(\.age) == [.seconds(9)])
    #expect(states.values.map(\.isSettled) == [true])
    #expect(scene.fetches.count == 1)
  }

  @Test func `a state says whether its value is stale, by its age or by a mark`() {
    let scene = RememberedScene(.ten(), age: .seconds(9))
    func isStale() -> Bool? {
      Recorder<State>().subscribe(to: scene.users.states(of: "a")).values.last?.isStale
    }

    #expect(isStale() == false)
    scene.users.markStale("a")
    #expect(isStale() == true)
    scene.users.set(2, for: "a")
    #expect(isStale() == false)
    scene.clock.advance(by: .seconds(10))
    #expect(isStale() == true)
    scene.users.remove("a")
    #expect(isStale() == false)
  }

  @Test func `a stale value is shown while a new one is fetched`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))

    let states = observed(scene)
    #expect(states.values.last?.value == 1)
    #expect(states.values.last?.isLoading == true)
    scene.answer(2)

    #expect(states.values.last?.value == 2)
    #expect(states.values.last?.isLoading == false)
    #expect(scene.fetches.count == 2)
    #expect(states.values.map(\.isSettled).firstIndex(of: true) == states.values.count - 1)
  }

  @Test func `no state is sent twice in a row`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene)
    scene.answer(1)
    let count = states.values.count

    scene.users.set(1, for: "a")
    scene.users.set(1, for: "a")
    scene.users.get("a", freshness: .cachedOnly).subscribe()

    // Its provenance changed, once.
    #expect(states.values.count == count + 1)
    #expect(zip(states.values, states.values.dropFirst()).allSatisfy { $0 != $1 })
  }

  @Test func `values that are not equatable are shown, too`() {
    struct Opaque: Sendable { let number: Int }
    let origin = TestOrigin<String, Opaque>()
    let users = origin.remembered(
      in: MemoryCache(countLimit: 5), FreshnessPolicy(freshFor: .after(.seconds(10))))
    let states = Recorder().subscribe(to: users.observe("a"))

    origin["a"].next(Opaque(number: 1))
    origin["a"].completed()

    #expect(states.values.last?.value?.number == 1)
  }

  // MARK: The interval

  @Test func `a value is fetched again when it is older than the interval`() {
    let scene = RememberedScene(.ten(), age: .seconds(2))
    let states = observed(scene, every: .seconds(5))

    scene.clock.advance(by: .milliseconds(2_999))
    #expect(scene.fetches.count == 1)
    scene.clock.advance(by: .milliseconds(1))
    #expect(scene.fetches.count == 2)
    scene.answer(2)
    scene.clock.advance(by: .milliseconds(4_999))
    #expect(scene.fetches.count == 2)
    scene.clock.advance(by: .milliseconds(1))
    #expect(scene.fetches.count == 3)
    scene.answer(3)

    #expect(states.values.last?.value == 3)
  }

  @Test func `a failure is shown, and the next interval tries again`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene, every: .seconds(5))

    scene.fail(Refused())
    #expect(states.values.last?.error is Refused)
    #expect(states.values.last?.isLoading == false)
    #expect(scene.fetches.count == 1)
    scene.clock.advance(by: .seconds(5))
    #expect(scene.fetches.count == 2)
    #expect(states.values.last?.isLoading == true)
    scene.answer(7)

    #expect(states.values.last?.value == 7)
    #expect(states.values.last?.error == nil)
    #expect(states.end == nil)
  }

  @Test func `the interval counts from the end of a failed fetch`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene, every: .seconds(5))
    scene.fail(Refused())
    scene.clock.advance(by: .seconds(5))
    scene.clock.advance(by: .seconds(3))
    scene.fail(Refused())

    scene.clock.advance(by: .milliseconds(4_999))
    #expect(scene.fetches.count == 2)
    scene.clock.advance(by: .milliseconds(1))
    #expect(scene.fetches.count == 3)
    #expect(states.end == nil)
  }

  @Test func `an observer waits with one get for a fetch that takes many intervals`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let states = observed(scene, every: .seconds(5))

    for _ in 0..<10 { scene.clock.advance(by: .seconds(5)) }
    #expect(scene.users.topology(for: "a").flight?.callers == 1)
    #expect(scene.fetches.count == 2)
    scene.answer(2)

    #expect(states.values.last?.value == 2)
  }

  @Test func `observers with intervals of their own share the fetches of the shortest`() {
    let scene = RememberedScene(.ten())
    let states = [observed(scene, every: .seconds(4)), observed(scene, every: .seconds(6))]
    scene.answer(0)

    for round in 1...6 {
      scene.clock.advance(by: .seconds(4))
      scene.answer(round)
    }

    #expect(scene.fetches.count == 7)
    #expect(states.allSatisfy { $0.values.last?.value == 6 })
  }

  @Test func `an origin whose values are old already is asked once an interval`() {
    let clock = ManualClock()
    let origin = OldAnswers()
    let users = origin.remembered(
      in: MemoryCache<String, Int>(countLimit: 5, clock: clock), .ten(), clock: clock)

    let states = Recorder().subscribe(to: users.observe("a", every: .seconds(1)))
    #expect(origin.gets.withLock { $0 } <= 2)
    for _ in 0..<10 { clock.advance(by: .seconds(1)) }

    #expect((10...12).contains(origin.gets.withLock { $0 }))
    #expect(states.values.last?.age ?? .zero >= .seconds(3_600))
  }

  @Test(arguments: [Duration.zero, .seconds(-5), .nanoseconds(-1)])
  func `without a positive interval nothing is fetched again`(interval: Duration) {
    let scene = RememberedScene(.ten())
    let states = observed(scene, every: interval)
    scene.answer(1)

    scene.clock.advance(by: .seconds(1_000))

    #expect(scene.fetches.count == 1)
    #expect(states.end == nil)
  }

  @Test func `an endless interval overflows nothing`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene, every: .seconds(Int64.max))
    scene.answer(1)

    scene.clock.advance(by: .seconds(86_400))

    #expect(scene.fetches.count == 1)
    #expect(states.values.last?.value == 1)
  }

  // MARK: The trigger

  @Test func `a trigger fetches a fresh value, too`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let states = observed(scene)

    pulls.next(())
    #expect(states.values.last?.isLoading == true)
    #expect(states.values.last?.value == 1)
    scene.answer(2)

    #expect(states.values.last?.value == 2)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a trigger fetches anew in the moment in which the last value came`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene)
    scene.answer(1)

    for value in 2...4 {
      pulls.next(())
      scene.answer(value)
    }

    #expect(states.values.last?.value == 4)
    #expect(scene.fetches.count == 4)
  }

  @Test func `an observer waits with one get for a fetch, however often it is triggered`() {
    let scene = RememberedScene(.ten())
    let states = observed(scene)

    for _ in 0..<100 { pulls.next(()) }

    #expect((scene.users.topology(for: "a").flight?.callers ?? 0) <= 2)
    #expect(scene.fetches.count == 1)
    withExtendedLifetime(states) {}
  }

  @Test func `a trigger tries again although the last failure is remembered`() {
    let scene = RememberedScene(FreshnessPolicy(failureLife: { _ in .seconds(60) }))
    let states = observed(scene)
    scene.fail(Refused())
    #expect(states.values.last?.error is Refused)

    pulls.next(())
    scene.answer(1)

    #expect(states.values.last?.value == 1)
    #expect(states.values.last?.error == nil)
  }

  @Test func `a trigger of many observers leads to one fetch`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let states = (0..<10).map { _ in observed(scene) }

    pulls.next(())
    pulls.next(())
    #expect(scene.fetches.count == 2)
    scene.answer(2)

    #expect(states.allSatisfy { $0.values.last?.value == 2 })
    #expect(states.allSatisfy { $0.values.last?.isLoading == false })
  }

  @Test func `the failure of a trigger fails the observation, and its end does not end it`() {
    let scene = RememberedScene(.ten())
    let failing = PublishSubject<Void>()
    let failed = Recorder().subscribe(to: scene.users.observe("a", refreshingOn: failing.signal))
    let states = observed(scene)

    failing.failed(Refused())
    pulls.completed()
    scene.answer(1)

    #expect(failed.failure is Refused)
    #expect(states.values.last?.value == 1)
    #expect(states.end == nil)
  }

  // MARK: Leaving

  @Test func `the last observer that leaves cancels the fetch`() {
    let scene = RememberedScene(.ten())
    let states = [observed(scene), observed(scene)]

    states[0].dispose()
    #expect(scene.origin.activeRuns == 1)
    states[1].dispose()
    #expect(scene.origin.activeRuns == 0)

    pulls.next(())
    scene.clock.advance(by: .seconds(1_000))
    #expect(scene.fetches.count == 1)
  }

  @Test func `an observer that leaves inside a state does not disturb the others`() {
    let scene = RememberedScene(.ten())
    let leaving = Locked<Disposable?>(nil)
    let mine = observed(scene)
    let handle = scene.users.observe("a", every: .seconds(5)).subscribe(onNext: { state in
      if state.value != nil { leaving.withLock { $0 }?.dispose() }
    })
    leaving.withLock { $0 = handle }

    scene.answer(1)
    scene.clock.advance(by: .seconds(100))

    #expect(mine.values.last?.value == 1)
    #expect(scene.fetches.count == 1)
  }

  // MARK: Misuse

  @Test func `a fetch that observes its own key and waits fails as circular`() async {
    let users = Locked<MultiplexerMap<String, Int>?>(nil)
    let map = MultiplexerMap<String, Int> { key in
      guard let users = users.withLock({ $0 }) else { return 0 }
      for try await state in users.observe(key).values {
        if let value = state.value { return value }
      }
      return 0
    }
    users.withLock { $0 = map }
    defer { users.withLock { $0 = nil } }

    await #expect(throws: CacheError.self) { try await map.get("a").value }
  }

  @Test func `the end of the scope ends an observation, and nothing is fetched for it again`() {
    let (scope, clock, origin) = (CacheScope(), ManualClock(), TestOrigin<String, Int>())
    let users = MultiplexerMap(over: origin, scope: scope, clock: clock)
    let states = Recorder().subscribe(
      to: users.observe("a", every: .seconds(5), refreshingOn: pulls.signal))
    origin["a"].next(1)
    origin["a"].completed()
    let count = states.values.count

    scope.end()
    pulls.next(())
    clock.advance(by: .seconds(60))

    #expect(states.failure.map { "\($0)" } == "\(CacheError.scopeEnded(key: "a"))")
    #expect(states.values.dropFirst(count).allSatisfy { $0.value == nil })
    #expect(origin["a"].subscriptions == 1)
  }

  @Test func `a multiplexer is observed as a key of a map is`() {
    let clock = ManualClock()
    let source = TestSource<Int>()
    let profile = Multiplexer<Int>(freshness: .ten(), clock: clock, signal: { source.signal })
    let states = Recorder().subscribe(
      to: profile.observe(every: .seconds(60), refreshingOn: pulls.signal))

    source.next(1)
    source.completed()
    clock.advance(by: .seconds(1))
    pulls.next(())
    #expect(states.values.last?.isLoading == true)
    source.next(2)
    source.completed()
    clock.advance(by: .seconds(60))

    #expect(source.subscriptions == 3)
    #expect(states.values.last?.value == 2)
  }

  @Test func `observers on other threads all see the last value`() async throws {
    let users = MultiplexerMap<Int, Int>(countLimit: 10) { $0 }
    let (recorders, end) = ((0..<8).map { _ in Recorder<State>() }, 99)

    await withTaskGroup(of: Void.self) { group in
      for (number, recorder) in recorders.enumerated() {
        group.addTask {
          for _ in 0..<20 { Recorder().subscribe(to: users.observe(1)).dispose() }
          recorder.subscribe(to: users.observe(1).first { $0.value == end })
          users.set(number, for: 1)
        }
      }
    }
    users.set(end, for: 1)

    for recorder in recorders {
      _ = try await recorder.ended()
      #expect(recorder.violations.isEmpty)
      #expect(recorder.values.last?.value == end)
    }
  }
}

/// An origin whose values are an hour old.
private final class OldAnswers: AnsweringSource {
  let gets = Locked(0)

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    .deferred { [gets] in
      let number = gets.withLock { gets in
        gets += 1
        return gets
      }
      return .just(.value(Stamped(number, age: .seconds(3_600))))
    }
  }
}
