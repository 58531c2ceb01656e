import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DebounceTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  init() {
    recorder.subscribe(to: source.signal.debounce(.seconds(1), clock: clock))
  }

  @Test func `only the last value of a burst passes, once it has been quiet`() {
    for value in 1...3 {
      source.next(value)
      clock.advance(by: .milliseconds(900))
    }
    let early = recorder.values

    clock.advance(by: .milliseconds(100))

    #expect(early.isEmpty)
    #expect(recorder.values == [3])
  }

  @Test func `a burst costs one timer`() {
    for value in 0..<1_000 { source.next(value) }

    #expect(clock.pendingCount == 1)
  }

  @Test func `a value that waits is sent before the completion`() {
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `a completion with nothing waiting passes at once`() {
    source.completed()

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure drops what waits`() {
    source.next(1)
    source.failed(Trouble.some)
    clock.run()

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `progress passes at once`() {
    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))

    #expect(recorder.transcript == ["progress 1/2"])
  }

  @Test func `after disposal no timer is left`() {
    source.next(1)

    recorder.dispose()

    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test func `a value sent in a callback waits for its own quiet period`() {
    let other = Recorder<Int>()
    let source = TestSource<Int>()
    other.subscribe(to: source.signal.debounce(.seconds(1), clock: clock)) { event in
      if case .next(1) = event { source.next(2) }
    }
    source.next(1)

    clock.advance(by: .seconds(1))
    let afterOne = other.values
    clock.advance(by: .seconds(1))

    #expect(afterOne == [1])
    #expect(other.values == [1, 2])
    #expect(other.violations.isEmpty)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `without a quiet time every value passes at once`(quiet: Duration) {
    let other = Recorder<Int>()
    other.subscribe(to: Signal.of(1, 2).debounce(quiet, clock: clock))

    #expect(other.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `a clock that advances under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    let pipe = PublishSubject<Int>()
    let other = Recorder<Int>()
    other.subscribe(to: pipe.signal.debounce(.seconds(1), clock: clock)) { event in
      if case .next(1) = event { scene.callback() }
    }
    pipe.next(1)

    try await scene.play(
      send: { [clock] in clock.advance(by: .seconds(1)) },
      meddle: { [clock] in
        pipe.next(2)
        clock.advance(by: .seconds(1))
      })
    clock.run()

    #expect(other.values == [1, 2])
    #expect(other.violations.isEmpty)
  }

  @Test func `the rule wants to be woken when the last value has been quiet`() {
    var rule = DebounceRule<Int>(quiet: .seconds(1))

    let first = rule.received(.next(1), at: .seconds(5))
    let deadline = rule.deadline

    #expect(first == nil)
    #expect(deadline == .seconds(6))
    #expect(rule.wake(at: .seconds(6))?.isTerminal == false)
    #expect(rule.deadline == nil)
  }
}
