import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TakeUntilTests {
  let source = TestSource<Int>()
  let trigger = TestSource<String>()
  let recorder = Recorder<Int>()

  func subscribe() {
    recorder.subscribe(to: source.signal.take(until: trigger.signal))
  }

  @Test func `a value of the trigger completes it and stops both`() {
    subscribe()

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    trigger.next("now")
    source.next(2)

    #expect(recorder.transcript == ["progress 1/2", "next 1", "completed"])
    #expect(source.disposals == 1)
    #expect(trigger.disposals == 1)
  }

  @Test func `a trigger that has a value at once lets nothing start`() {
    recorder.subscribe(to: source.signal.take(until: Signal.just("now")))

    #expect(recorder.transcript == ["completed"])
    #expect(source.subscriptions == 0)
  }

  @Test func `a trigger that completes without a value changes nothing`() {
    subscribe()

    trigger.progress(SignalProgress(completed: 1, total: 2))
    trigger.completed()
    source.next(1)

    #expect(recorder.transcript == ["next 1"])
  }

  @Test func `a failure of the trigger ends everything`() {
    subscribe()

    trigger.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(source.disposals == 1)
  }

  @Test(arguments: [true, false])
  func `the upstream's end passes and stops the trigger`(fails: Bool) {
    subscribe()

    if fails { source.failed(Trouble.some) } else { source.completed() }

    #expect(recorder.transcript == [fails ? "failed some" : "completed"])
    #expect(trigger.disposals == 1)
  }

  @Test func `an upstream that fails after it was cancelled hides no completion`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: sensitive.take(until: trigger.signal))

    trigger.next("now")

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a trigger that races the upstream's end gives one completion`() async throws {
    for _ in 0..<200 {
      let source = TestSource<Int>()
      let trigger = TestSource<String>()
      let recorder = Recorder<Int>().subscribe(to: source.signal.take(until: trigger.signal))

      try await race(2) { index in
        if index == 0 { trigger.next("now") } else { source.completed() }
      }
      try await recorder.ended()

      #expect(recorder.isCompleted)
      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `a trigger that fires under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    recorder.subscribe(to: source.signal.take(until: trigger.signal)) { event in
      if case .next = event { scene.callback() }
    }

    try await scene.play(
      send: { [source] in source.next(1) }, meddle: { [trigger] in trigger.next("now") })

    #expect(recorder.transcript == ["next 1", "completed"])
  }
}
