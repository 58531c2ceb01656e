import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CombineLatestTests {
  let first = TestSource<Int>()
  let second = TestSource<String>()
  let recorder = Recorder<String>()

  func subscribe() {
    recorder.subscribe(to: combineLatest(first.signal, second.signal).map { "\($0)\($1)" })
  }

  @Test func `a combination of no signals completes`() {
    let ends = Journal<String>()

    combineLatest()
      .subscribe(onNext: { ends.write("value") }, onCompleted: { ends.write("completed") })

    #expect(ends.entries == ["completed"])
  }

  @Test func `of one it is that one`() {
    let recorder = Recorder<Int>().subscribe(to: combineLatest(Signal.of(1, 2)))

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `the latest values are joined whenever one comes, once there is one of each`() {
    subscribe()

    first.next(1)
    first.next(2)
    second.next("a")
    second.next("b")
    first.next(3)

    #expect(recorder.values == ["2a", "2b", "3b"])
  }

  @Test func `three inputs are joined`() {
    let recorder = Recorder<Int>()
    recorder.subscribe(
      to: combineLatest(Signal.just(1), Signal.just(10), Signal.of(100, 200)).map { $0 + $1 + $2 })

    #expect(recorder.transcript == ["next 111", "next 211", "completed"])
  }

  @Test func `it completes when all have completed`() {
    subscribe()
    first.next(1)
    first.completed()
    second.next("a")
    let wasEnded = recorder.end != nil

    second.completed()

    #expect(!wasEnded)
    #expect(recorder.transcript == ["next 1a", "completed"])
  }

  @Test func `one that completes without a value completes it and stops the others`() {
    subscribe()
    first.next(1)

    second.completed()

    #expect(recorder.transcript == ["completed"])
    #expect(first.disposals == 1)
  }

  @Test func `the first failure ends it and stops the others`() {
    subscribe()

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(second.disposals == 1)
  }

  @Test func `an input that fails after it was cancelled hides no failure`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    let recorder = Recorder<Int>()
    recorder.subscribe(to: combineLatest(sensitive, first.signal).map { $0 + $1 })

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `progress is the sum, its total known if each that runs knows its own`() {
    subscribe()

    first.progress(SignalProgress(completed: 1, total: 10))
    second.progress(SignalProgress(completed: 2, total: 20))
    first.progress(SignalProgress(completed: 3))
    first.next(1)
    first.completed()
    second.progress(SignalProgress(completed: 4, total: 20))

    #expect(
      recorder.transcript == ["progress 1/?", "progress 3/30", "progress 5/?", "progress 7/23"])
  }

  @Test func `a value that is replaced is released`() {
    let released = Journal<Int>()
    let source = TestSource<Witness>()
    let recorder = Recorder<Int>().subscribe(
      to: combineLatest(source.signal, first.signal).map { $1 })

    for number in 0..<2 { source.next(Witness { released.write(number) }) }
    let replaced = released.entries
    first.next(1)
    source.completed()
    first.completed()

    #expect(replaced == [0])
    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `inputs on many threads never overlap, and the last of each is seen`() async throws {
    let pipes = (0..<3).map { _ in PublishSubject<Int>() }
    let recorder = Recorder<[Int]>()
    recorder.subscribe(
      to: combineLatest(pipes[0].signal, pipes[1].signal, pipes[2].signal).map { [$0, $1, $2] })

    try await race(3) { index in
      for step in 0..<500 { pipes[index].next(step) }
      pipes[index].completed()
    }
    try await recorder.ended()

    #expect(recorder.values.last == [499, 499, 499])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a value sent from a callback is combined after it`() {
    recorder.subscribe(to: combineLatest(first.signal, second.signal).map { "\($0)\($1)" }) {
      [first] event in
      if case .next("1a") = event { first.next(2) }
    }

    first.next(1)
    second.next("a")

    #expect(recorder.values == ["1a", "2a"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an input that sends under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    recorder.subscribe(to: combineLatest(first.signal, second.signal).map { "\($0)\($1)" }) {
      event in
      if case .next("1a") = event { scene.callback() }
    }
    first.next(1)

    try await scene.play(
      send: { [second] in second.next("a") }, meddle: { [first] in first.next(2) })

    #expect(recorder.values == ["1a", "2a"])
    #expect(recorder.violations.isEmpty)
  }
}
