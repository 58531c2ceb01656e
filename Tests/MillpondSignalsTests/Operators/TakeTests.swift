import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TakeTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the first values pass, then it completes and cancels the upstream`() {
    recorder.subscribe(to: source.signal.take(2))

    for value in 1...3 { source.next(value) }

    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
    #expect(source.disposals == 1)
  }

  @Test func `the upstream is cancelled before the completion is passed on`() {
    let disposals = Journal<Int>()
    recorder.subscribe(to: source.signal.take(1)) { [source] event in
      if event.isTerminal { disposals.write(source.disposals) }
    }

    source.next(1)

    #expect(disposals.entries == [1])
  }

  @Test(arguments: [0, -1])
  func `of none the upstream is not started`(count: Int) {
    recorder.subscribe(to: source.signal.take(count))

    #expect(recorder.transcript == ["completed"])
    #expect(source.subscriptions == 0)
  }

  @Test func `an upstream that ends earlier ends it`() {
    recorder.subscribe(to: source.signal.take(2))

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next 1", "completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.take(1))

    source.failed(Trouble.some)

    #expect(recorder.failure as? Trouble == .some)
  }

  @Test func `the first of a thousand synchronous values stops the rest`() {
    let sent = Locked(0)
    let signal = Signal.from(0..<1_000).onNext { _ in sent.withLock { $0 += 1 } }

    recorder.subscribe(to: signal.take(1))

    #expect(recorder.values == [0])
    #expect(sent.withLock { $0 } == 1)
  }

  @Test func `a value sent in the callback of the last one is dropped`() {
    recorder.subscribe(to: source.signal.take(1)) { [source] event in
      if case .next(1) = event { source.next(2) }
    }

    source.next(1)

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `leaving in the callback of the last value is silence`() {
    recorder.subscribe(to: source.signal.take(1)) { [recorder] _ in recorder.dispose() }

    source.next(1)

    #expect(recorder.transcript == ["next 1"])
  }

  @Test func `an upstream that is abandoned after it was cancelled does not matter`() {
    let box = Box<Observer<Int>>()
    let signal = Signal<Int>.create { observer, lifetime in
      box.put(observer)
      lifetime.onEnd { box.take() }
    }
    recorder.subscribe(to: signal.take(1))

    box.value?.next(1)

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test(arguments: [Event<Int>.completed, .failed(Trouble.some)])
  func `an upstream that ends by itself is torn down before its end is passed on`(
    end: Event<Int>
  ) {
    let journal = Journal<String>()
    let signal = Signal<Int> { observer, lifetime in
      lifetime.onEnd { journal.write("torn down") }
      observer.send(end)
    }

    recorder.subscribe(to: signal.take(1)) { _ in journal.write("ended") }

    #expect(journal.entries == ["torn down", "ended"])
  }
}
