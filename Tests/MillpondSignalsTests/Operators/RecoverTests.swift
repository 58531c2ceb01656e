import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RecoverTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `a failure is replaced, also after values`() {
    recorder.subscribe(to: source.signal.recover { _ in .of(8, 9) })

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["next 1", "next 8", "next 9", "completed"])
  }

  @Test func `the replacement is given the failure, and may fail with it again`() {
    recorder.subscribe(to: source.signal.recover { .fail($0) })

    source.failed(Trouble.other)

    #expect(recorder.failure as? Trouble == .other)
  }

  @Test func `a completion passes`() {
    recorder.subscribe(to: source.signal.recover { _ in .just(1) })

    source.progress(SignalProgress(completed: 1))
    source.completed()

    #expect(recorder.transcript == ["progress 1/?", "completed"])
  }

  @Test func `disposal reaches whichever signal runs`() {
    let other = TestSource<Int>()
    recorder.subscribe(to: source.signal.recover { _ in other.signal })
    source.failed(Trouble.some)

    recorder.dispose()
    other.next(1)

    #expect(other.disposals == 1)
    #expect(recorder.events.isEmpty)
  }

  @Test func `a failure after disposal is not replaced`() {
    let box = Box<Observer<Int>>()
    let started = Journal<Int>()
    let signal = Signal<Int>.create { observer, lifetime in
      box.put(observer)
      lifetime.onEnd { box.take() }
    }
    recorder.subscribe(
      to: signal.recover { _ in
        started.write(1)
        return .empty
      })

    recorder.dispose()

    #expect(started.entries.isEmpty)
    #expect(recorder.events.isEmpty)
  }
}
