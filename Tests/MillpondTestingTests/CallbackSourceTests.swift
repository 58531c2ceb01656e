import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CallbackSourceTests {
  enum Trouble: Error { case some }

  let source = CallbackSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `its events arrive, up to the first end`() {
    recorder.subscribe(to: source.signal)

    source.next(1)
    source.failed(Trouble.some)
    source.next(2)
    source.completed()

    #expect(recorder.transcript == ["next 1", "failed some"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a run notes that it is not wanted any more, and goes on`() {
    recorder.subscribe(to: source.signal)
    let wasCancelled = source.runs[0].isCancelled

    recorder.dispose()
    source.next(1)

    #expect(!wasCancelled)
    #expect(source.runs[0].isCancelled)
    #expect(recorder.events.isEmpty)
  }

  @Test func `events that are sent at once all arrive before the end does`() async throws {
    recorder.subscribe(to: source.signal)

    source.runs[0].sendAtOnce((0..<20).map { .next($0) })
    source.completed()

    try await recorder.ended()
    #expect(recorder.values.sorted() == Array(0..<20))
    #expect(recorder.violations.isEmpty)
  }

  @Test func `the asynchronous function returns the first answer`() async throws {
    async let value = source.value()
    try await source.subscriptions(count: 1)

    source.next(1)
    source.next(2)
    source.failed(Trouble.some)

    #expect(try await value == 1)
  }

  @Test func `the asynchronous function waits for an answer though its task is cancelled`()
    async throws
  {
    let task = Task { [source] in try await source.value() }
    try await source.subscriptions(count: 1)

    task.cancel()
    try await source.cancellations(count: 1)
    source.next(3)

    #expect(try await task.value == 3)
  }

  @Test func `the asynchronous function throws what the run fails with, and for no value`()
    async throws
  {
    for (end, wanted) in [
      (Event<Int>.failed(Trouble.some), "some"), (.completed, "\(SignalError.empty)"),
    ] {
      let before = source.subscriptions
      let task = Task { [source] in try await source.value() }
      try await source.subscriptions(count: before + 1)

      source.runs.last?.send(end)

      await #expect { try await task.value } throws: { "\($0)" == wanted }
    }
  }

  @Test func `a subscriber that waits when the source is released fails as abandoned`() async throws
  {
    var source: CallbackSource<Int>? = CallbackSource()
    source.map { _ = recorder.subscribe(to: $0.signal) }

    source = nil

    #expect(recorder.failure is SignalError)
  }
}
