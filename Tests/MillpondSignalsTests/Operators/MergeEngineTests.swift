import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MergeEngineTests {
  let outer = TestSource<Int>()
  let inner = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `concat runs one inner signal after the other`() {
    recorder.subscribe(to: outer.signal.flatMap(.concat) { [inner] _ in inner.signal })
    for value in 0..<3 { outer.next(value) }
    let atOnce = inner.subscriptions

    for number in 0..<3 {
      inner.runs[number].next(number)
      inner.runs[number].completed()
    }
    outer.completed()

    #expect(atOnce == 1)
    #expect(recorder.transcript == ["next 0", "next 1", "next 2", "completed"])
  }

  @Test func `concat is the default`() {
    recorder.subscribe(to: outer.signal.flatMap { [inner] _ in inner.signal })

    outer.next(0)
    outer.next(1)

    #expect(inner.subscriptions == 1)
  }

  @Test func `merge runs all inner signals at once`() {
    recorder.subscribe(to: outer.signal.flatMap(.merge) { [inner] _ in inner.signal })
    for value in 0..<3 { outer.next(value) }
    outer.completed()

    for number in [2, 0, 1] { inner.runs[number].next(number) }
    inner.completed()

    #expect(inner.subscriptions == 3)
    #expect(recorder.transcript == ["next 2", "next 0", "next 1", "completed"])
  }

  @Test func `a limited merge runs so many at once, and what waits in order`() {
    recorder.subscribe(to: outer.signal.flatMap(.merge(atMost: 2)) { [inner] _ in inner.signal })
    for value in 0..<4 { outer.next(value) }
    let atOnce = inner.subscriptions

    inner.runs[1].completed()
    let afterOne = inner.subscriptions
    inner.runs[0].completed()
    inner.completed()
    outer.completed()

    #expect(atOnce == 2)
    #expect(afterOne == 3)
    #expect(inner.subscriptions == 4)
    #expect(recorder.transcript == ["completed"])
  }

  @Test(arguments: [0, -1])
  func `a limit below one is one`(limit: Int) {
    recorder.subscribe(
      to: outer.signal.flatMap(.merge(atMost: limit)) { [inner] _ in inner.signal })

    for value in 0..<2 { outer.next(value) }

    #expect(inner.subscriptions == 1)
  }

  @Test func `the progress of a merge is the sum, its total known if every live one is`() {
    recorder.subscribe(to: outer.signal.flatMap(.merge) { [inner] _ in inner.signal })
    outer.next(0)
    outer.next(1)

    inner.runs[0].progress(SignalProgress(completed: 1, total: 10))
    inner.runs[1].progress(SignalProgress(completed: 2, total: 20))
    inner.runs[0].progress(SignalProgress(completed: 3))
    inner.runs[0].completed()
    inner.runs[1].progress(SignalProgress(completed: 4, total: 20))

    #expect(
      recorder.transcript == ["progress 1/?", "progress 3/30", "progress 5/?", "progress 4/20"])
  }

  @Test func `progress that does not fit an Int saturates`() {
    recorder.subscribe(to: outer.signal.flatMap(.merge) { [inner] _ in inner.signal })
    outer.next(0)
    outer.next(1)

    inner.progress(SignalProgress(completed: .max, total: .max))

    #expect(recorder.progress.last == SignalProgress(completed: .max, total: .max))
  }

  @Test func `a failure ends all other inner signals`() {
    recorder.subscribe(to: outer.signal.flatMap(.merge) { [inner] _ in inner.signal })
    for value in 0..<3 { outer.next(value) }

    inner.runs[1].failed(Trouble.some)

    #expect(inner.disposals == 2)
    #expect(outer.disposals == 1)
    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `a waiting signal of a concat is not started after a failure`() {
    recorder.subscribe(to: outer.signal.flatMap(.concat) { [inner] _ in inner.signal })
    for value in 0..<3 { outer.next(value) }

    inner.runs[0].failed(Trouble.some)

    #expect(inner.subscriptions == 1)
  }

  @Test func `a hundred thousand inner signals that waited run without overflow`() {
    let first = TestSource<Int>()
    let count = Locked(0)
    recorder.subscribe(
      to: Signal.from(0..<100_000)
        .flatMap(.concat) { $0 == 0 ? first.signal : Signal<Int>.from(CollectionOfOne(1)) }
        .onNext { _ in count.withLock { $0 += 1 } }.filter { _ in false })

    first.completed()

    #expect(count.withLock { $0 } == 99_999)
    #expect(recorder.isCompleted)
  }

  @Test func `a hundred thousand inner signals that wait are released without overflow`() {
    let first = TestSource<Int>()
    recorder.subscribe(
      to: Signal.from(0..<100_000).flatMap(.concat) { _ in first.signal })

    recorder.dispose()

    #expect(first.subscriptions == 1)
  }

  @Test func `concurrent inner signals never overlap, and none is lost`() async throws {
    let pipes = (0..<4).map { _ in PublishSubject<Int>() }
    recorder.subscribe(to: Signal.from(0..<4).flatMap(.merge) { pipes[$0].signal })

    try await race(4) { index in
      for step in 0..<500 { pipes[index].next(step) }
      pipes[index].completed()
    }
    try await recorder.ended()

    #expect(recorder.values.count == 2_000)
    #expect(recorder.violations.isEmpty)
  }

  @Test
  func `an inner signal that sends under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    let pipes = (0..<2).map { _ in PublishSubject<Int>() }
    recorder.subscribe(to: Signal.from(0..<2).flatMap(.merge) { pipes[$0].signal }) { event in
      if case .next(1) = event { scene.callback() }
    }

    try await scene.play(send: { pipes[0].next(1) }, meddle: { pipes[1].next(2) })

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a failure on one thread is not hidden by those it cancels on others`() async throws {
    for _ in 0..<100 {
      let inner = TestSource<Int>()
      let recorder = Recorder<Int>()
      let slow = Signal<Int>.async {
        try await ManualClock().sleep(for: .seconds(1))
        return 1
      }
      recorder.subscribe(
        to: Signal.from(0..<3).flatMap(.merge) { $0 == 1 ? inner.signal : slow })

      onThread { inner.failed(Trouble.some) }
      try await recorder.ended()

      #expect(recorder.failure as? Trouble == .some)
    }
  }
}
