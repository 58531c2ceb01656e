import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LogTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()
  let lines = Journal<String>()

  func subscribe(_ react: @escaping @Sendable (Event<Int>) -> Void = { _ in }) {
    recorder.subscribe(to: source.signal.log("a") { [lines] in lines.write($0) }, react)
  }

  @Test func `a subscription, its events and its completion are written, and pass`() {
    subscribe()

    source.progress(SignalProgress(completed: 1, total: 2))
    source.progress(SignalProgress(completed: 2))
    source.next(1)
    source.completed()

    #expect(
      lines.entries == [
        "a: subscribed", "a: progress 1/2", "a: progress 2/?", "a: next 1", "a: completed",
      ])
    #expect(recorder.transcript == ["progress 1/2", "progress 2/?", "next 1", "completed"])
  }

  @Test func `a failure is written, and passes`() {
    subscribe()

    source.failed(Trouble.some)

    #expect(lines.entries == ["a: subscribed", "a: failed some"])
    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `disposal is written`() {
    subscribe()

    recorder.dispose()

    #expect(lines.entries == ["a: subscribed", "a: disposed"])
    #expect(source.disposals == 1)
  }

  @Test func `an event is written before it is passed on`() {
    subscribe { [lines] event in
      if case .next = event { lines.write("received") }
    }

    source.next(1)

    #expect(lines.entries == ["a: subscribed", "a: next 1", "received"])
  }
}
