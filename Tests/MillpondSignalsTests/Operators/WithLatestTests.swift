import MillpondSignals
import MillpondTesting
import Testing

@Suite struct WithLatestTests {
  let source = TestSource<Int>()
  let other = TestSource<String>()
  let recorder = Recorder<String>()

  func subscribe() {
    recorder.subscribe(to: source.signal.withLatest(from: other.signal).map { "\($0)\($1)" })
  }

  @Test func `each value is joined to the latest one of the other`() {
    subscribe()

    source.next(1)
    other.next("a")
    other.next("b")
    source.next(2)
    source.next(3)
    other.next("c")
    source.next(4)

    #expect(recorder.values == ["2b", "3b", "4c"])
  }

  @Test func `an other that has a value at once loses none`() {
    let recorder = Recorder<Int>()
    recorder.subscribe(to: Signal.of(1, 2).withLatest(from: Signal.just(10)).map { $0 + $1 })

    #expect(recorder.transcript == ["next 11", "next 12", "completed"])
  }

  @Test func `the completion of the other changes nothing`() {
    subscribe()

    other.next("a")
    other.completed()
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 1a", "completed"])
  }

  @Test func `the completion completes it and stops the other`() {
    subscribe()

    source.completed()

    #expect(recorder.transcript == ["completed"])
    #expect(other.disposals == 1)
  }

  @Test func `a failure of the other ends everything`() {
    subscribe()

    other.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(source.disposals == 1)
  }

  @Test func `an other that fails at once lets nothing start`() {
    let recorder = Recorder<Int>()
    recorder.subscribe(
      to: source.signal.withLatest(from: Signal<Int>.fail(Trouble.some)).map { $0 + $1 })

    #expect(recorder.transcript == ["failed some"])
    #expect(source.subscriptions == 0)
  }

  @Test func `an upstream that fails after it was cancelled hides no failure`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: sensitive.withLatest(from: other.signal).map { "\($0)\($1)" })

    other.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `progress is that of the signal, not of the other`() {
    subscribe()

    other.progress(SignalProgress(completed: 5, total: 9))
    source.progress(SignalProgress(completed: 1, total: 2))

    #expect(recorder.transcript == ["progress 1/2"])
  }

  @Test func `on different threads nothing overlaps, and no value is lost`() async throws {
    let pipes = (0..<2).map { _ in PublishSubject<Int>() }
    let recorder = Recorder<Int>()
    recorder.subscribe(
      to: pipes[0].signal.withLatest(from: pipes[1].signal.startWith(-1)).map { $0 + 0 * $1 })

    try await race(2) { index in
      for step in 0..<500 { pipes[index].next(step) }
      pipes[index].completed()
    }
    try await recorder.ended()

    #expect(recorder.values == Array(0..<500))
    #expect(recorder.violations.isEmpty)
  }

  @Test
  func `another signal that sends under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    recorder.subscribe(to: source.signal.withLatest(from: other.signal).map { "\($0)\($1)" }) {
      _ in scene.callback()
    }
    other.next("a")

    try await scene.play(
      send: { [source] in source.next(1) }, meddle: { [other] in other.next("b") })

    #expect(recorder.values == ["1a"])
  }
}
