import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MaxWaitingTests {
  let origin = TestOrigin<Int, Int>()
  let clock = ManualClock()

  struct Trouble: Error {}

  private func ask(
    _ source: some Source<Int, Int>, _ key: Int, _ priority: Priority = .normal
  ) -> Recorder<Int> {
    Recorder<Int>().subscribe(to: source.get(key, priority: priority))
  }

  private func refusal(_ recorder: Recorder<Int>) -> String? {
    if case CacheError.tooManyWaiting(let key, _, let limit)? = recorder.failure {
      return "\(key) beyond \(limit)"
    }
    return nil
  }

  @Test func `a get beyond those that may wait for a slot fails at once, and says so`() {
    let source = origin.limited(to: 1, maxWaiting: 2)
    let recorders = (0..<5).map { ask(source, $0) }

    #expect(recorders.map(refusal) == [nil, nil, nil, "3 beyond 2", "4 beyond 2"])
    #expect((0..<5).map { origin[$0].subscriptions } == [1, 0, 0, 0, 0])

    origin[0].completed()
    let late = ask(source, 5)
    #expect(refusal(late) == nil)
    for key in [1, 2, 5] { origin[key].completed() }
    #expect(recorders.prefix(3).allSatisfy { $0.isCompleted } && late.isCompleted)
  }

  @Test func `a get that leaves makes room for another that waits`() {
    let source = origin.limited(to: 1, maxWaiting: 1)
    let running = ask(source, 0)
    let waiting = ask(source, 1)

    waiting.dispose()

    #expect(refusal(ask(source, 2)) == nil)
    #expect(running.transcript == [])
  }

  @Test(arguments: [0, -1, .min])
  func `if no get may wait, one starts or fails`(maxWaiting: Int) {
    let source = origin.limited(to: 2, maxWaiting: maxWaiting)
    let first = (0..<3).map { ask(source, $0) }
    #expect(first.map(refusal) == [nil, nil, "2 beyond 0"])

    origin[0].next(1)
    origin[0].completed()

    #expect(refusal(ask(source, 3)) == nil)
    #expect(origin[3].subscriptions == 1)
  }

  @Test func `no waiting get is given up for a more urgent one`() {
    let source = origin.limited(to: 1, maxWaiting: 1)
    let first = [ask(source, 0), ask(source, 1, .low)]

    #expect(refusal(ask(source, 2, .high)) == "2 beyond 1")

    origin[0].completed()
    #expect(origin[1].subscriptions == 1)
    #expect(first.map(refusal) == [nil, nil])
  }

  @Test func `a get for which a slot is reserved starts, however many wait for the others`() {
    let source = origin.limited(to: 2, reserved: 1, maxWaiting: 1)
    let low = (0..<3).map { ask(source, $0, .low) }
    #expect(low.map(refusal) == [nil, nil, "2 beyond 1"])

    let urgent = ask(source, 3, .high)

    #expect(refusal(urgent) == nil)
    #expect(origin[3].subscriptions == 1)
  }

  @Test func `a get inside work that holds the only slot is served, and a second one refused`() {
    let source = origin.limited(to: 1, maxWaiting: 0)
    let outer = AnyCache(
      get: { key in source.get(key).flatMap { source.get($0 + 10) } },
      set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let recorder = ask(outer, 0)

    origin[0].next(1)

    // The outer get still runs, and the inner one may not wait.
    #expect(refusal(recorder) == "11 beyond 0")
    #expect(refusal(ask(source, 5)) == nil)
  }

  @Test func `exactly as many wait as may, whatever number of threads asks`() {
    for _ in 0..<20 {
      let source = origin.limited(to: 1, maxWaiting: 37)
      let holder = ask(source, 0)
      let recorders = Locked<[Recorder<Int>]>([])
      DispatchQueue.concurrentPerform(iterations: 200) { number in
        let recorder = ask(source, 1 + number)
        recorders.withLock { $0.append(recorder) }
      }

      let all = recorders.withLock { $0 }
      #expect(all.count { refusal($0) == nil } == 37)
      for recorder in all { recorder.dispose() }
      holder.dispose()
    }
  }

  @Test func `an immediate answer and a stored one need no place among those that wait`() {
    let memory = MemoryCache<Int, Int>(countLimit: 9)
    memory.set(7, for: 7)
    let source = memory.layered(over: origin).limited(to: 1, maxWaiting: 0)
    let holder = ask(source, 0)

    #expect(ask(source, 7).values == [7])
    #expect(Recorder<Int>().subscribe(to: source.get(1, freshness: .cachedOnly)).isCompleted)
    #expect(holder.transcript == [])
  }

  @Test func `a get beyond those that may wait for a token fails at once`() {
    let source = origin.rateLimited(
      to: 1, per: .seconds(1), burst: 2, maxWaiting: 1, clock: clock)
    let recorders = (0..<4).map { ask(source, $0) }
    #expect(recorders.map(refusal) == [nil, nil, nil, "3 beyond 1"])

    clock.advance(by: .seconds(1))

    #expect((0..<4).map { origin[$0].subscriptions } == [1, 1, 1, 0])
    #expect(refusal(ask(source, 4)) == nil)
    #expect(clock.pendingCount == 1)
  }

  @Test func `if no get may wait for a token, one spends a token or fails`() {
    let source = origin.rateLimited(to: 1, per: .seconds(1), maxWaiting: 0, clock: clock)
    let recorders = (0..<2).map { ask(source, $0) }
    #expect(recorders.map(refusal) == [nil, "1 beyond 0"])
    #expect(clock.pendingCount == 0)

    clock.step(by: .seconds(1))
    #expect(refusal(ask(source, 2)) == nil)
    #expect(refusal(ask(source, 3)) == "3 beyond 0")
  }

  @Test func `exactly as many wait for a token as may, whatever number of threads asks`() {
    for _ in 0..<20 {
      let source = origin.rateLimited(
        to: 1, per: .seconds(1), burst: 5, maxWaiting: 37, clock: clock)
      let recorders = Locked<[Recorder<Int>]>([])
      DispatchQueue.concurrentPerform(iterations: 200) { number in
        let recorder = ask(source, number)
        recorders.withLock { $0.append(recorder) }
      }

      let all = recorders.withLock { $0 }
      #expect(all.count { refusal($0) == nil } == 42)
      for recorder in all { recorder.dispose() }
    }
  }

  @Test func `a refused get frees what it holds, and is counted as a refusal`() {
    let monitor = CacheMonitor()
    let source = origin.limited(to: 1, maxWaiting: 0).named("people").monitored(by: monitor)
    let holder = ask(source, 0)

    weak var held: Locked<Int>?
    do {
      let object = Locked(1)
      held = object
      let recorder = Recorder<Int>().subscribe(
        to: source.get(1).map { $0 + object.withLock { $0 } })
      #expect(refusal(recorder) == "1 beyond 0")
      recorder.dispose()
    }

    #expect(held == nil)
    #expect(monitor.statistics["people"]?.refusals == 1)
    #expect(monitor.statistics["people"]?.failures == 0)
    #expect(holder.transcript == [])
  }
}
