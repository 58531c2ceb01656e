import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SwitchingRuleTests {
  let outer = TestSource<Int>()
  let inner = TestSource<Int>()
  let recorder = Recorder<Int>()

  func subscribe() {
    recorder.subscribe(to: outer.signal.flatMap(.latest) { [inner] _ in inner.signal })
  }

  @Test func `a new value disposes of the running inner signal`() {
    subscribe()
    outer.next(0)
    outer.next(1)

    inner.runs[0].next(7)
    inner.runs[1].next(8)

    #expect(inner.disposals == 1)
    #expect(recorder.values == [8])
  }

  @Test func `a settled inner signal replaces the running one`() {
    recorder.subscribe(
      to: outer.signal.flatMap(.latest) { [inner] in $0 == 0 ? inner.signal : .just(5) })

    outer.next(0)
    outer.next(1)
    outer.completed()

    #expect(inner.disposals == 1)
    #expect(recorder.transcript == ["next 5", "completed"])
  }

  @Test func `the outer signal's progress passes while no inner one runs`() {
    subscribe()
    outer.next(0)
    inner.completed()

    outer.progress(SignalProgress(completed: 2, total: 2))

    #expect(recorder.transcript == ["progress 2/2"])
  }

  @Test func `an inner signal that fails since it was replaced does not matter`() {
    let replaced = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(
      to: outer.signal.flatMap(.latest) { [inner] in $0 == 0 ? replaced : inner.signal })

    outer.next(0)
    outer.next(1)
    inner.next(5)

    #expect(recorder.transcript == ["next 5"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an inner signal that is abandoned since it was replaced by a settled one`() {
    let box = Box<Observer<Int>>()
    let replaced = Signal<Int>.create { observer, lifetime in
      box.put(observer)
      lifetime.onEnd { box.take() }
    }
    recorder.subscribe(
      to: outer.signal.flatMap(.latest) { $0 == 0 ? replaced : .just(5) })

    outer.next(0)
    outer.next(1)

    #expect(recorder.transcript == ["next 5"])
  }

  @Test func `a switch in a callback of the inner signal is queued`() {
    recorder.subscribe(to: outer.signal.flatMap(.latest) { [inner] _ in inner.signal }) {
      [outer] event in
      if case .next(1) = event { outer.next(1) }
    }
    outer.next(0)

    inner.runs[0].next(1)
    inner.runs[0].next(2)
    inner.runs[1].next(3)

    #expect(recorder.values == [1, 3])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `after a switch nothing of the old inner signal begins, on any thread`() async throws {
    for _ in 0..<200 {
      let outer = TestSource<Int>()
      let pipes = (0..<2).map { _ in PublishSubject<Int>() }
      let recorder = Recorder<Int>()
      recorder.subscribe(to: outer.signal.flatMap(.latest) { pipes[$0].signal })
      outer.next(0)

      try await race(2) { index in
        if index == 0 {
          for _ in 0..<20 { pipes[0].next(0) }
        } else {
          outer.next(1)
          pipes[1].next(1)
        }
      }
      outer.completed()
      pipes[1].completed()
      try await recorder.ended()

      #expect(recorder.values.filter { $0 == 1 }.count == 1)
      #expect(recorder.values.last == 1)
      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `a switch under a lock does not deadlock with a callback that wants it`() async throws
  {
    let scene = HeldLock()
    let pipe = PublishSubject<Int>()
    recorder.subscribe(
      to: outer.signal.flatMap(.latest) { $0 == 0 ? pipe.signal : .just(2) }
    ) { event in
      if case .next(1) = event { scene.callback() }
    }
    outer.next(0)

    try await scene.play(send: { pipe.next(1) }, meddle: { [outer] in outer.next(1) })

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
  }
}
