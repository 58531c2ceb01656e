import MillpondTesting
import Testing

@testable import MillpondSignals

@Suite struct FromAsyncTests {
  let recorder = Recorder<Int>()

  @Test func `the result of the work is sent`() async throws {
    recorder.subscribe(to: .async { 1 })

    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `an error that the work throws fails the signal`() async throws {
    recorder.subscribe(to: .async { throw Trouble.some })

    try await recorder.ended()

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `nothing runs before a subscription, and each runs the work anew`() async throws {
    let runs = Locked(0)
    let signal = Signal.async {
      runs.withLock { runs in
        runs += 1
        return runs
      }
    }
    let before = runs.withLock { $0 }

    let values = [try await signal.value, try await signal.value]

    #expect(before == 0)
    #expect(values == [1, 2])
  }

  @Test func `disposal cancels the task and is silence`() async throws {
    let cancelled = Recorder<Int>()
    let clock = ManualClock()
    let pipe = PublishSubject<Int>()
    cancelled.subscribe(to: pipe.signal)
    recorder.subscribe(
      to: .async {
        do {
          try await clock.sleep(for: .seconds(1))
        } catch {
          pipe.completed()
          throw error
        }
        return 1
      })
    try await clock.pending(count: 1)

    recorder.dispose()

    try await cancelled.ended()
    #expect(recorder.events.isEmpty)
    #expect(clock.pendingCount == 0)
  }

  @Test func `disposal during the subscription cancels the task`() async throws {
    let clock = ManualClock()
    let done = Watched(false)
    let lifetime = Lifetime()
    lifetime.end()
    let signal = Signal<Int>.async {
      defer { done.change { $0 = true } }
      try await clock.sleep(for: .seconds(1))
      return 1
    }

    signal.start?(Observer(next: { _ in }, other: { _ in }), lifetime)

    try await done.wait(for: "the work to be cancelled") { $0 }
  }
}
