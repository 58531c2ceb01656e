import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SignalSubscribeTests {
  let source = TestSource<Int>()
  let journal = Journal<String>()

  func subscribe(_ signal: Signal<Int>) -> Disposable {
    signal.subscribe(
      onProgress: { journal.write("progress \($0.completed)") },
      onNext: { journal.write("next \($0)") },
      onFailed: { journal.write("failed \($0)") },
      onCompleted: { journal.write("completed") })
  }

  @Test func `each event reaches its closure`() {
    let handle = subscribe(source.signal)

    source.progress(SignalProgress(completed: 1))
    source.next(1)
    source.completed()

    #expect(journal.entries == ["progress 1", "next 1", "completed"])
    #expect(handle.isDisposed)
  }

  @Test func `a failure reaches its closure`() {
    let handle = subscribe(source.signal)

    source.failed(Trouble.some)

    #expect(journal.entries == ["failed some"])
    #expect(handle.isDisposed)
  }

  @Test func `events as data come in the same order`() {
    source.signal.subscribe { journal.write("\($0.isTerminal)") }

    source.progress(SignalProgress(completed: 1))
    source.next(1)
    source.completed()

    #expect(journal.entries == ["false", "false", "true"])
  }

  @Test func `a signal that ends inside subscribe still gives a handle`() {
    let handle = subscribe(.of(1, 2))

    #expect(journal.entries == ["next 1", "next 2", "completed"])
    #expect(handle.isDisposed)
  }

  @Test func `after dispose there is silence`() {
    let handle = subscribe(source.signal)

    handle.dispose()
    source.next(1)
    source.completed()

    #expect(journal.entries.isEmpty)
    #expect(source.disposals == 1)
  }

  @Test func `dispose inside a callback silences the subscription at once`() {
    let box = Box<Disposable>()
    let pipe = PublishSubject<Int>()
    box.put(
      pipe.signal.flatMap { Signal.of($0, $0) }.subscribe(
        onNext: {
          journal.write("next \($0)")
          box.value?.dispose()
        }, onCompleted: { journal.write("completed") }))

    pipe.next(1)
    pipe.completed()

    #expect(journal.entries == ["next 1"])
  }

  @Test func `a subscription delivers nothing after the end`() {
    let signal = Signal<Int> { observer, _ in
      observer.completed()
      observer.next(1)
      observer.failed(Trouble.some)
      observer.completed()
    }

    _ = subscribe(signal)

    #expect(journal.entries == ["completed"])
  }

  @Test func `one of many ends on different threads is delivered`() async throws {
    for _ in 0..<200 {
      let ends = Watched(0)
      let box = Box<Observer<Int>>()
      Signal<Int> { observer, _ in box.put(observer) }
        .subscribe(
          onFailed: { _ in ends.change { $0 += 1 } }, onCompleted: { ends.change { $0 += 1 } })

      try await race(4) { index in
        if index.isMultiple(of: 2) {
          box.value?.completed()
        } else {
          box.value?.failed(Trouble.some)
        }
      }

      #expect(ends.state == 1)
    }
  }

  @Test func `dispose that races the end runs the teardown once, and delivers at most one end`()
    async throws
  {
    for _ in 0..<300 {
      let teardowns = Watched(0)
      let ends = Watched(0)
      let box = Box<Observer<Int>>()
      let signal = Signal<Int>.create { observer, lifetime in
        lifetime.onEnd { teardowns.change { $0 += 1 } }
        box.put(observer)
      }
      let handle = signal.subscribe(onCompleted: { ends.change { $0 += 1 } })

      try await race(3) { index in
        if index == 0 { box.value?.completed() } else { handle.dispose() }
      }

      #expect(teardowns.state == 1)
      #expect(ends.state <= 1)
    }
  }

  @Test func `dispose before subscribe returns tears down at once`() {
    let teardowns = Journal<String>()
    let pipe = PublishSubject<Int>()
    let box = Box<Disposable>()
    let signal = Signal<Int> { observer, lifetime in
      box.put(Disposable(lifetime))
      box.value?.dispose()
      lifetime.onEnd { teardowns.write("down") }
      pipe.signal.run(observer, lifetime)
    }

    let handle = subscribe(signal)
    pipe.next(1)

    #expect(teardowns.entries == ["down"])
    #expect(handle.isDisposed)
    #expect(journal.entries.isEmpty)
  }

  @Test func `no delivery begins after dispose has returned on another thread`() async throws {
    for _ in 0..<200 {
      let pipe = PublishSubject<Int>()
      let isDisposed = Locked(false)
      let afterDispose = Gate()
      let late = Watched(0)
      let handle = pipe.signal.subscribe(onNext: { value in
        // A delivery that began before may end after it: only the second value is surely late.
        if value == 2, isDisposed.withLock({ $0 }) { late.change { $0 = value } }
      })

      try await race(2) { index in
        if index == 0 {
          handle.dispose()
          isDisposed.withLock { $0 = true }
          afterDispose.open()
        } else {
          pipe.next(1)
          afterDispose.pass()
          pipe.next(2)
        }
      }

      #expect(late.state == 0)
    }
  }

  @Test func `the closures are released after the end`() {
    let released = Journal<Int>()
    let handle: Disposable
    do {
      let witness = Witness { released.write(1) }
      handle = source.signal.subscribe(onNext: { _ in _ = witness })
    }
    source.completed()

    #expect(released.entries == [1])
    #expect(handle.isDisposed)
  }
}
