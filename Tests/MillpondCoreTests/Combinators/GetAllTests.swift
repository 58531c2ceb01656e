import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct GetAllTests {
  let origin = TestOrigin<Int, Int>()
  let recorder = Recorder<[Result<Int, any Error>]>()

  struct Trouble: Error {}

  private var summary: [String] {
    recorder.values.first?.map { result in
      switch result {
      case .success(let value): "\(value)"
      case .failure(CacheError.miss): "miss"
      case .failure(let error): "\(type(of: error))"
      }
    } ?? []
  }

  @Test func `answers come in the order of the keys, each with its own failure`() {
    recorder.subscribe(to: origin.get(all: [3, 1, 2]))

    origin[1].failed(Trouble())
    origin[2].completed()
    #expect(recorder.transcript == [])
    origin[3].next(30)
    origin[3].completed()

    #expect(summary == ["30", "Trouble", "miss"])
    #expect(recorder.isCompleted && recorder.values.count == 1)
  }

  @Test func `a key that is named twice is fetched once and answered twice`() {
    recorder.subscribe(to: origin.get(all: [1, 2, 1]))

    for key in [2, 1] {
      origin[key].next(key)
      origin[key].completed()
    }

    #expect(summary == ["1", "2", "1"])
    #expect(origin[1].subscriptions == 1)
  }

  @Test func `of no keys the answer is empty`() {
    recorder.subscribe(to: origin.get(all: []))

    #expect(recorder.values.map(\.count) == [0])
    #expect(recorder.isCompleted)
  }

  @Test func `flights are shared with single gets`() {
    let cache = origin.reusingInFlight()
    let single = Recorder<Int>().subscribe(to: cache.get(1))

    recorder.subscribe(to: cache.get(all: [1, 2]))
    for key in [1, 2] {
      origin[key].next(key)
      origin[key].completed()
    }

    #expect(origin[1].subscriptions == 1)
    #expect(single.values == [1] && summary == ["1", "2"])
  }

  @Test func `progress is the sum`() {
    recorder.subscribe(to: origin.get(all: [1, 2]))

    origin[1].progress(SignalProgress(completed: 1, total: 4))
    origin[2].progress(SignalProgress(completed: 2, total: 6))

    #expect(recorder.progress.last == SignalProgress(completed: 3, total: 10))
  }

  @Test func `a caller that leaves gives up all`() {
    recorder.subscribe(to: origin.get(all: [1, 2]))

    recorder.dispose()

    #expect(origin[1].disposals == 1 && origin[2].disposals == 1)
  }

  @Test func `values answered by the deadline are not lost`() {
    let clock = ManualClock()
    recorder.subscribe(to: origin.get(all: [1, 2], deadline: .after(.seconds(1), clock: clock)))
    origin[1].next(1)
    origin[1].completed()

    clock.advance(by: .seconds(1))

    #expect(summary == ["1", "SignalError"])
  }

  @Test func `ten thousand keys need no stack, there at once or not`() {
    let keys = Array(0..<10_000)
    let memory = MemoryCache<Int, Int>(countLimit: 5_000)
    for key in 0..<5_000 { memory.set(key, for: key) }
    let lower = TestCache<Int, Int>()
    for key in keys { lower.set(key, for: key) }

    recorder.subscribe(to: memory.layered(over: lower).reusingInFlight().get(all: keys))

    #expect(summary == keys.map { "\($0)" })
  }
}

@Suite struct ValuesForKeysTests {
  let origin = TestOrigin<Int, Int>()
  let recorder = Recorder<[Int]>()

  struct Trouble: Error {}

  @Test func `values come in the order of the keys, once for a key that is named twice`() {
    recorder.subscribe(to: origin.values(for: [3, 1, 3]))

    for key in [1, 3] {
      origin[key].next(key * 10)
      origin[key].completed()
    }

    #expect(recorder.values == [[30, 10, 30]] && recorder.isCompleted)
    #expect(origin[3].subscriptions == 1)
  }

  @Test func `the first failure ends all at once, and leaves the others`() {
    recorder.subscribe(to: origin.values(for: [1, 2, 3]))
    origin[1].next(1)
    origin[1].completed()

    origin[2].failed(Trouble())

    #expect(recorder.values == [] && recorder.failure is Trouble)
    #expect(origin[3].disposals == 1)
  }

  @Test func `a key without a value fails all, as a miss`() {
    recorder.subscribe(to: origin.values(for: [1, 2]))

    origin[2].completed()

    guard case CacheError.miss? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(origin[1].disposals == 1)
  }

  @Test func `keys after one that fails at once are not got`() {
    let cache = TestCache<Int, Int>()
    cache.failGets(of: 2, with: Trouble())
    for key in 1...3 { cache.set(key, for: key) }

    recorder.subscribe(to: cache.values(for: [1, 2, 3]))

    #expect(recorder.failure is Trouble)
    #expect(cache.gets == [1, 2])
  }

  @Test func `a flight that others wait for goes on after a failure`() {
    let cache = origin.reusingInFlight()
    let single = Recorder<Int>().subscribe(to: cache.get(1))
    recorder.subscribe(to: cache.values(for: [1, 2]))

    origin[2].failed(Trouble())
    origin[1].next(1)

    #expect(recorder.failure is Trouble && single.values == [1])
  }

  @Test func `a get of no keys sends no values, and leaving cancels all`() {
    #expect(Recorder<[Int]>().subscribe(to: origin.values(for: [])).values == [[]])

    recorder.subscribe(to: origin.values(for: [1, 2]))
    recorder.dispose()

    #expect(origin[1].disposals == 1 && origin[2].disposals == 1)
  }

  @Test func `the deadline is for all`() {
    let clock = ManualClock()
    recorder.subscribe(
      to: origin.values(for: [1, 2], deadline: .after(.seconds(1), clock: clock)))
    origin[1].next(1)
    origin[1].completed()

    clock.advance(by: .seconds(1))

    #expect(recorder.values == [] && recorder.failure is SignalError)
  }

  @Test func `the values of ten thousand keys need no stack`() {
    let keys = Array(0..<10_000)
    let lower = TestCache<Int, Int>()
    for key in keys { lower.set(key, for: key) }

    recorder.subscribe(to: lower.reusingInFlight().values(for: keys))

    #expect(recorder.values == [keys])
  }
}
