import MillpondSignals
import MillpondTesting
import Testing

@Suite struct PromiseTests {
  private let promise = Promise<Void>()

  @Test func `an outcome is sent once, to subscribers from before and after the end`() {
    let early = Recorder<Void>().subscribe(to: promise.outcome)
    #expect(early.events.isEmpty)

    promise.end()
    promise.end(Trouble.some)
    let late = Recorder<Void>().subscribe(to: promise.outcome)

    for recorder in [early, late] {
      #expect(recorder.values.count == 1 && recorder.isCompleted && recorder.violations.isEmpty)
    }
  }

  @Test func `a failure is repeated`() {
    promise.end(Trouble.some)

    #expect(Recorder<Void>().subscribe(to: promise.outcome).failure is Trouble)
  }

  @Test func `inside a callback of the end, the outcome is ready`() {
    let inner = Recorder<Void>()
    let outcome = promise.outcome
    let isReady = Locked(false)
    outcome.subscribe(onCompleted: {
      inner.subscribe(to: outcome.map { $0 })
      isReady.withLock { $0 = inner.isCompleted }
    })

    promise.end()

    #expect(isReady.withLock { $0 })
  }

  @Test func `a disposed subscription receives nothing`() {
    let recorder = Recorder<Void>().subscribe(to: promise.outcome)
    recorder.dispose()

    promise.end()

    #expect(recorder.events.isEmpty)
  }

  @Test func `a subscriber that leaves is released while the work goes on`() {
    final class Released: Sendable {}
    weak var witness: Released?
    do {
      let captured = Released()
      witness = captured
      promise.outcome.subscribe { _ in withExtendedLifetime(captured) {} }.dispose()
    }

    #expect(witness == nil)
    promise.end()
  }

  @Test func `a promise that is released before its end fails as abandoned`() {
    let recorder = Recorder<Int>()
    do {
      let promise = Promise<Int>()
      recorder.subscribe(to: promise.outcome)
    }

    #expect(recorder.failure is SignalError)
  }
}
