import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SideEffectsTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()
  let journal = Journal<String>()

  var observed: Signal<Int> {
    source.signal.onEnd { [journal] in journal.write("\($0)") }
  }

  @Test func `onNext acts before the value is passed on`() {
    recorder.subscribe(to: source.signal.onNext { [journal] in journal.write("act \($0)") }) {
      [journal] _ in journal.write("passed")
    }

    source.next(1)

    #expect(journal.entries == ["act 1", "passed"])
    #expect(recorder.values == [1])
  }

  @Test func `onEnd reports a completion, before it is passed on`() {
    recorder.subscribe(to: observed) { [journal] _ in journal.write("passed") }

    source.completed()

    #expect(journal.entries == ["completed", "passed"])
  }

  @Test func `onEnd reports a failure`() {
    recorder.subscribe(to: observed)

    source.failed(Trouble.some)

    #expect(journal.entries.count == 1)
    #expect(journal.entries.first?.hasPrefix("failed") == true)
    #expect(recorder.failure as? Trouble == .some)
  }

  @Test func `onEnd reports disposal`() {
    recorder.subscribe(to: observed)

    recorder.dispose()
    recorder.dispose()

    #expect(journal.entries == ["disposed"])
    #expect(recorder.events.isEmpty)
  }

  @Test func `onEnd above take reports disposal`() {
    recorder.subscribe(to: observed.take(1))

    source.next(1)

    #expect(journal.entries == ["disposed"])
    #expect(recorder.isCompleted)
  }

  @Test func `values and progress pass`() {
    recorder.subscribe(to: observed.onNext { _ in })

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)

    #expect(recorder.transcript == ["progress 1/2", "next 1"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `an end that races disposal is reported once`() async throws {
    for _ in 0..<300 {
      let source = TestSource<Int>()
      let ends = Watched(0)
      let handle = source.signal.onEnd { _ in ends.change { $0 += 1 } }.subscribe()

      try await race(2) { index in
        if index == 0 { source.completed() } else { handle.dispose() }
      }

      #expect(ends.state == 1)
    }
  }

  @Test func `an upstream that fails since it was disposed of was disposed of`() {
    let lifetime = Lifetime()
    let child = lifetime.child()
    lifetime.onEnd {}
    let signal = Signal<Int> { observer, lifetime in
      // Takes the place that the child leaves, before that of `onEnd`.
      child.end()
      lifetime.onEnd { observer.failed(Trouble.some) }
    }
    let observed = signal.onEnd { [journal] in journal.write("\($0)") }
    observed.run(Observer(next: { _ in }, other: { _ in }), lifetime)

    lifetime.end()

    #expect(journal.entries == ["disposed"])
  }
}
