import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct BulkSourceTests {
  let calls = TestOrigin<[Int], [Int: String]>()
  let clock = ManualClock()

  struct Trouble: Error {}

  private func batched(window: Duration = .seconds(1), max: Int = 100) -> Batched<Int, String> {
    BulkSource { [calls] keys in calls.get(keys) }
      .batching(window: window, max: max, clock: clock)
  }

  private func ask(_ source: Batched<Int, String>, _ keys: Int...) -> [Recorder<String>] {
    keys.map { Recorder<String>().subscribe(to: source.get($0)) }
  }

  @Test func `gets within the window become one call, and each has its own answer`() {
    let source = batched()
    let first = ask(source, 2, 1)
    clock.advance(by: .milliseconds(999))
    let second = ask(source, 3)
    #expect(calls[[2, 1, 3]].subscriptions == 0)

    clock.advance(by: .milliseconds(1))
    calls[[2, 1, 3]].next([1: "a", 2: "b", 3: "c"])
    calls[[2, 1, 3]].completed()

    #expect((first + second).map(\.values) == [["b"], ["a"], ["c"]])
    #expect((first + second).allSatisfy { $0.isCompleted })
    #expect(clock.pendingCount == 0)
  }

  @Test func `a batched source sends a key that is asked for twice once, and answers both`() {
    let recorders = ask(batched(), 1, 1)

    clock.advance(by: .seconds(1))
    calls[[1]].next([1: "a"])

    #expect(recorders.map(\.transcript) == [["next a", "completed"], ["next a", "completed"]])
  }

  @Test func `a key that is absent in the answer is a miss`() {
    let recorders = ask(batched(), 1, 2)

    clock.advance(by: .seconds(1))
    calls[[1, 2]].next([1: "a"])
    #expect(recorders[1].transcript == [])
    calls[[1, 2]].completed()

    #expect(recorders.map(\.transcript) == [["next a", "completed"], ["completed"]])
  }

  @Test func `a key that does not equal itself is a miss, and is not fetched`() {
    let calls = TestOrigin<[Double], [Double: String]>()
    let source = BulkSource<Double, String> { calls.get($0) }
      .batching(window: .seconds(1), max: 2, clock: clock)
    let recorders = [Double.nan, 1].map { Recorder<String>().subscribe(to: source.get($0)) }
    #expect(recorders.map(\.transcript) == [["completed"], []])

    clock.advance(by: .seconds(1))
    calls[[1]].next([1: "a"])

    #expect(recorders[1].transcript == ["next a", "completed"])
  }

  @Test func `a failure reaches every caller that has no answer yet`() {
    let recorders = ask(batched(), 1, 2, 3)

    clock.advance(by: .seconds(1))
    calls[[1, 2, 3]].next([1: "a"])
    calls[[1, 2, 3]].failed(Trouble())

    #expect(recorders[0].isCompleted)
    #expect(recorders[1].failure is Trouble && recorders[2].failure is Trouble)
  }

  @Test func `a key whose caller leaves before the window closes is not fetched`() {
    let recorders = ask(batched(), 1, 2, 2)

    recorders[0].dispose()
    recorders[1].dispose()
    clock.advance(by: .seconds(1))

    #expect(calls[[2]].subscriptions == 1)
  }

  @Test func `when all have left no call is made, and the next window is a new one`() {
    let source = batched()
    for recorder in ask(source, 1, 2) { recorder.dispose() }
    #expect(clock.pendingCount == 0)

    _ = ask(source, 3)
    clock.advance(by: .seconds(1))

    #expect(calls[[3]].subscriptions == 1)
  }

  @Test func `a key whose caller leaves and comes again is fetched once`() {
    let source = batched()
    let other = ask(source, 2)
    ask(source, 1).first?.dispose()
    let again = ask(source, 1)

    clock.advance(by: .seconds(1))
    #expect(calls[[2, 1]].subscriptions == 1)
    calls[[2, 1]].next([1: "a", 2: "b"])

    #expect((other + again).map(\.values) == [["b"], ["a"]])
    #expect(calls[[2, 1]].disposals == 1)
  }

  @Test(arguments: 0..<10)
  func `of many callers of one key those that stay are answered, in the order of their arrival`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    let source = batched()
    let answered = Locked<[Int]>([])
    var staying: [(number: Int, get: Disposable)] = []
    for number in 0..<500 {
      if staying.count > 1, Bool.random(using: &random) {
        staying.remove(at: Int.random(in: staying.indices, using: &random)).get.dispose()
      } else {
        let get = source.get(1).subscribe(onNext: { _ in answered.withLock { $0.append(number) } })
        staying.append((number, get))
      }
    }

    clock.advance(by: .seconds(1))
    calls[[1]].next([1: "a"])

    #expect(answered.withLock { $0 } == staying.map(\.number))
    #expect(calls[[1]].subscriptions == 1 && calls[[1]].disposals == 1)
  }

  @Test func `the last one to leave cancels the call`() {
    let recorders = ask(batched(), 1, 2)
    clock.advance(by: .seconds(1))

    recorders[0].dispose()
    #expect(calls[[1, 2]].disposals == 0)
    recorders[1].dispose()

    #expect(calls[[1, 2]].disposals == 1)
  }

  @Test func `a call that has answered all its gets is cancelled`() {
    _ = ask(batched(), 1)
    clock.advance(by: .seconds(1))

    calls[[1]].next([1: "a"])

    #expect(calls[[1]].disposals == 1)
  }

  @Test func `as many as the maximum make a call at once`() {
    let source = batched(max: 2)

    let recorders = ask(source, 1, 1, 2, 3)

    #expect(calls[[1, 2]].subscriptions == 1 && recorders.count == 4)
    clock.advance(by: .seconds(1))
    #expect(calls[[3]].subscriptions == 1)
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [0, -1, Int.min])
  func `a maximum below one is one`(max: Int) {
    _ = ask(batched(max: max), 1, 2)

    #expect(calls[[1]].subscriptions == 1 && calls[[2]].subscriptions == 1)
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a window of nothing lasts until a timer can fire`(window: Duration) {
    _ = ask(batched(window: window), 1, 2)
    #expect(calls[[1, 2]].subscriptions == 0)

    clock.advance(by: .zero)

    #expect(calls[[1, 2]].subscriptions == 1)
  }

  @Test func `progress of the call is that of each of its gets`() {
    let recorders = ask(batched(), 1, 2)
    clock.advance(by: .seconds(1))

    calls[[1, 2]].progress(SignalProgress(completed: 1, total: 2))

    #expect(recorders.map(\.transcript) == [["progress 1/2"], ["progress 1/2"]])
  }

  @Test func `under shared flights a key under way is joined, not asked for again`() {
    let cache = batched().reusingInFlight()
    let first = Recorder<String>().subscribe(to: cache.get(1))
    clock.advance(by: .seconds(1))
    let second = Recorder<String>().subscribe(to: cache.get(1))

    calls[[1]].next([1: "a"])

    #expect(first.values == ["a"] && second.values == ["a"])
    #expect(calls[[1]].subscriptions == 1 && clock.pendingCount == 0)
  }

  @Test func `a bulk get through a cache is one call for what is missing`() {
    let memory = MemoryCache<Int, String>(countLimit: 5)
    memory.set("a", for: 1)
    let recorder = Recorder<[Result<String, any Error>]>().subscribe(
      to: memory.layered(over: batched()).get(all: [2, 1, 3]))

    clock.advance(by: .seconds(1))
    calls[[2, 3]].next([2: "b", 3: "c"])

    #expect(recorder.values.first?.map { try? $0.get() } == ["b", "a", "c"])
  }

  @Test func `racing callers and leavers are each answered, or gone`() async throws {
    let source = BulkSource<Int, Int> { keys in
      .just(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) }))
    }.batching(window: .zero, max: 7)
    let kept = (0..<4).map { _ in (0..<200).map { _ in Recorder<Int>() } }

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for (key, recorder) in kept[thread].enumerated() {
        recorder.subscribe(to: source.get(key))
        Recorder<Int>().subscribe(to: source.get(key + 1)).dispose()
      }
    }

    for recorders in kept {
      for (key, recorder) in recorders.enumerated() {
        try await recorder.ended()
        #expect(recorder.values == [key] && recorder.violations == [])
      }
    }
  }
}
