import MillpondSignals
import MillpondTesting
import Testing

@Suite struct IfEmptyTests {
  let source = TestSource<Int>()
  let fallback = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `ifEmpty goes on after a completion without a value`() {
    recorder.subscribe(to: source.signal.ifEmpty { [fallback] in fallback.signal })

    source.progress(SignalProgress(completed: 9))
    source.completed()
    fallback.progress(SignalProgress(completed: 1))
    fallback.next(2)
    fallback.completed()

    #expect(recorder.transcript == ["progress 9/?", "progress 1/?", "next 2", "completed"])
  }

  @Test func `ifEmpty does not start the fallback after a value`() {
    recorder.subscribe(to: source.signal.ifEmpty { [fallback] in fallback.signal })

    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(fallback.subscriptions == 0)
  }

  @Test func `ifEmpty lets a failure pass`() {
    recorder.subscribe(to: source.signal.ifEmpty { [fallback] in fallback.signal })

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(fallback.subscriptions == 0)
  }

  @Test func `ifNoValue goes on after a failure and is given it`() {
    let given = Box<any Error>()
    recorder.subscribe(
      to: source.signal.ifNoValue { [fallback] error in
        if let error { given.put(error) }
        return fallback.signal
      })

    source.failed(Trouble.some)
    fallback.completed()

    #expect(given.value as? Trouble == .some)
    #expect(recorder.transcript == ["completed"])
  }

  @Test func `ifNoValue goes on after a completion and is given nothing`() {
    let given = Box<any Error>()
    recorder.subscribe(
      to: source.signal.ifNoValue { error in
        if let error { given.put(error) }
        return .just(3)
      })

    source.completed()

    #expect(given.value == nil)
    #expect(recorder.transcript == ["next 3", "completed"])
  }

  @Test func `ifNoValue lets a failure after a value pass`() {
    recorder.subscribe(to: source.signal.ifNoValue { [fallback] _ in fallback.signal })

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["next 1", "failed some"])
    #expect(fallback.subscriptions == 0)
  }

  @Test func `disposal reaches the first signal, and no fallback is started`() {
    recorder.subscribe(to: source.signal.ifEmpty { [fallback] in fallback.signal })

    recorder.dispose()
    source.completed()

    #expect(source.disposals == 1)
    #expect(fallback.subscriptions == 0)
  }

  @Test func `disposal reaches the fallback`() {
    recorder.subscribe(to: source.signal.ifEmpty { [fallback] in fallback.signal })
    source.completed()

    recorder.dispose()

    #expect(fallback.disposals == 1)
  }

  @Test func `the resources of the first signal are torn down before the fallback begins`() {
    let journal = Journal<String>()
    let first = Signal<Int> { observer, lifetime in
      lifetime.onEnd { journal.write("down") }
      observer.completed()
    }

    first.ifEmpty {
      journal.write("fallback")
      return .empty
    }.subscribe()

    #expect(journal.entries == ["down", "fallback"])
  }

  @Test func `a settled value needs no fallback`() {
    recorder.subscribe(to: Signal.just(1).ifEmpty { .just(2) }.ifNoValue { _ in .just(3) })

    #expect(recorder.transcript == ["next 1", "completed"])
  }
}
