import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ZipTests {
  let first = TestSource<Int>()
  let second = TestSource<String>()
  let recorder = Recorder<String>()

  func subscribe() {
    recorder.subscribe(to: zip(first.signal, second.signal).map { "\($0)\($1)" })
  }

  @Test func `a zip of no signals completes`() {
    let ends = Journal<String>()

    zip().subscribe(onNext: { ends.write("value") }, onCompleted: { ends.write("completed") })

    #expect(ends.entries == ["completed"])
  }

  @Test func `zip of one is that one`() {
    let recorder = Recorder<Int>().subscribe(to: zip(first.signal))

    first.next(1)
    first.next(2)
    first.completed()

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `values are joined in pairs, whichever input is ahead`() {
    subscribe()

    first.next(1)
    first.next(2)
    second.next("a")
    second.next("b")
    second.next("c")
    first.next(3)

    #expect(recorder.values == ["1a", "2b", "3c"])
  }

  @Test func `three inputs are joined`() {
    let recorder = Recorder<Int>()
    recorder.subscribe(
      to: zip(Signal.of(1, 2), Signal.of(10, 20), Signal.of(100, 200)).map { $0 + $1 + $2 })

    #expect(recorder.transcript == ["next 111", "next 222", "completed"])
  }

  @Test func `it completes as soon as one is over and used up, and stops the others`() {
    subscribe()
    first.next(1)
    first.completed()
    let wasEnded = recorder.end != nil

    second.next("a")

    #expect(!wasEnded)
    #expect(recorder.transcript == ["next 1a", "completed"])
    #expect(second.disposals == 1)
  }

  @Test func `an empty input completes it at once, and later ones are not started`() {
    let later = TestSource<Int>()
    let recorder = Recorder<Int>()

    recorder.subscribe(to: zip(Signal<Int>.empty, later.signal).map { $0 + $1 })

    #expect(recorder.transcript == ["completed"])
    #expect(later.subscriptions == 0)
  }

  @Test func `the first failure ends it and stops the others`() {
    subscribe()
    first.next(1)

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(second.disposals == 1)
  }

  @Test func `progress is the sum, its total known if each knows its own`() {
    subscribe()

    first.progress(SignalProgress(completed: 1, total: 10))
    second.progress(SignalProgress(completed: 2, total: 20))
    first.progress(SignalProgress(completed: 3))

    #expect(recorder.transcript == ["progress 1/?", "progress 3/30", "progress 5/?"])
  }

  @Test func `an input that is over does not keep the total unknown`() {
    subscribe()
    first.progress(SignalProgress(completed: 3))
    first.next(1)
    first.completed()

    second.progress(SignalProgress(completed: 2, total: 20))

    #expect(recorder.transcript == ["progress 3/?", "progress 5/23"])
  }

  @Test func `progress that does not fit an Int saturates`() {
    subscribe()

    first.progress(SignalProgress(completed: .max, total: .max))
    second.progress(SignalProgress(completed: .max, total: .max))

    #expect(recorder.progress.last == SignalProgress(completed: .max, total: .max))
  }

  @Test func `inputs on different threads are joined in order`() async throws {
    let pipes = (0..<3).map { _ in PublishSubject<Int>() }
    let recorder = Recorder<[Int]>()
    recorder.subscribe(
      to: zip(pipes[0].signal, pipes[1].signal, pipes[2].signal).map { [$0, $1, $2] })

    try await race(3) { index in
      for step in 0..<500 { pipes[index].next(step) }
      pipes[index].completed()
    }
    try await recorder.ended()

    #expect(recorder.values == (0..<500).map { [$0, $0, $0] })
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a value sent from a callback is zipped after it`() {
    recorder.subscribe(to: zip(first.signal, second.signal).map { "\($0)\($1)" }) {
      [first, second] event in
      if case .next("1a") = event {
        first.next(2)
        second.next("b")
      }
    }

    first.next(1)
    second.next("a")

    #expect(recorder.values == ["1a", "2b"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an input that fails after it was cancelled hides no failure`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    let recorder = Recorder<Int>()
    recorder.subscribe(to: zip(sensitive, first.signal).map { $0 + $1 })

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `an input that sends under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    subscribe()
    let other = Recorder<String>()
    other.subscribe(to: zip(first.signal, second.signal).map { "\($0)\($1)" }) { event in
      if case .next("1a") = event { scene.callback() }
    }
    first.next(1)
    first.next(2)

    try await scene.play(
      send: { [second] in second.runs[1].next("a") },
      meddle: { [first, second] in
        first.runs[1].next(3)
        second.runs[0].next("b")
      })

    #expect(other.values == ["1a"])
    #expect(other.violations.isEmpty)
  }

  @Test func `values that were not joined are released at the end`() {
    let released = Journal<Int>()
    let source = TestSource<Witness>()
    let recorder = Recorder<Int>().subscribe(
      to: zip(source.signal, first.signal).map { $1 })
    for number in 0..<3 { source.next(Witness { released.write(number) }) }

    first.next(1)
    first.completed()

    #expect(recorder.values == [1])
    #expect(recorder.isCompleted)
    #expect(released.entries.contains(0))
  }
}
