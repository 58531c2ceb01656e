import MillpondSignals
import MillpondTesting
import Testing

@Suite struct PublishSubjectTests {
  let pipe = PublishSubject<Int>()
  let first = Recorder<Int>()
  let second = Recorder<Int>()

  @Test func `each subscriber gets the values that are sent after its subscription`() {
    first.subscribe(to: pipe.signal)
    pipe.next(1)
    second.subscribe(to: pipe.signal)
    pipe.progress(SignalProgress(completed: 1, total: 2))
    pipe.next(2)
    pipe.completed()

    #expect(first.transcript == ["next 1", "progress 1/2", "next 2", "completed"])
    #expect(second.transcript == ["progress 1/2", "next 2", "completed"])
  }

  @Test func `a subscriber after the end gets the end`() {
    pipe.next(1)
    pipe.failed(Trouble.some)

    first.subscribe(to: pipe.signal)

    #expect(first.transcript == ["failed some"])
  }

  @Test func `events after the end are ignored`() {
    first.subscribe(to: pipe.signal)
    pipe.completed()

    pipe.next(1)
    pipe.failed(Trouble.some)
    second.subscribe(to: pipe.signal)

    #expect(first.transcript == ["completed"])
    #expect(second.transcript == ["completed"])
    #expect(first.violations.isEmpty)
  }

  @Test func `a subject that is released fails as abandoned`() {
    do {
      let pipe = PublishSubject<Int>()
      first.subscribe(to: pipe.signal)
      pipe.next(1)
      #expect(first.failure == nil)
    }

    guard case SignalError.abandoned(let origin)? = first.failure else {
      Issue.record("\(first.transcript)")
      return
    }
    #expect(origin?.contains("PublishSubjectTests.swift") ?? true)
  }

  @Test func `the signal of a released pipe is a failure, too`() {
    let signal = PublishSubject<Int>().signal

    first.subscribe(to: signal)

    #expect(first.failure is SignalError)
  }

  @Test func `the observer of a pipe does not keep it alive`() {
    let observer: Observer<Int>
    do {
      let pipe = PublishSubject<Int>()
      observer = pipe.observer
      first.subscribe(to: pipe.signal)
      observer.next(1)
    }
    observer.next(2)

    #expect(first.values == [1])
    #expect(first.failure is SignalError)
  }

  @Test func `a value sent from a callback is queued, and all subscribers see one order`() {
    first.subscribe(to: pipe.signal) { [pipe] event in
      if case .next(1) = event {
        pipe.next(2)
        pipe.next(3)
      }
    }
    second.subscribe(to: pipe.signal)

    pipe.next(1)

    #expect(first.values == [1, 2, 3])
    #expect(second.values == [1, 2, 3])
    #expect(first.violations.isEmpty)
  }

  @Test func `a subscriber that comes in a callback gets the values that follow`() {
    first.subscribe(to: pipe.signal) { [pipe, second] event in
      if case .next(1) = event { second.subscribe(to: pipe.signal) }
    }

    pipe.next(1)
    pipe.next(2)

    #expect(first.values == [1, 2])
    #expect(second.values == [2])
  }

  @Test func `a subscriber that leaves in a callback gets nothing more`() {
    let values = Journal<Int>()
    let box = Box<Disposable>()
    box.put(
      pipe.signal.subscribe(onNext: {
        values.write($0)
        box.value?.dispose()
      }))

    pipe.next(1)
    pipe.next(2)

    #expect(values.entries == [1])
  }

  @Test func `a subscriber that another's callback disposes of gets nothing more`() {
    let values = Journal<Int>()
    let box = Box<Disposable>()
    pipe.signal.subscribe(onNext: { _ in box.value?.dispose() })
    box.put(pipe.signal.subscribe(onNext: { values.write($0) }))

    pipe.next(1)

    #expect(values.entries.isEmpty)
  }

  @Test func `an observer that leaves is released`() {
    let released = Journal<Int>()
    do {
      let witness = Witness { released.write(1) }
      pipe.signal.subscribe(onNext: { _ in _ = witness }).dispose()
    }

    #expect(released.entries == [1])
  }

  @Test(arguments: [1, 2, 7])
  func `a caller that leaves among many is released at once, and the others are served`(step: Int) {
    let released = Journal<Int>()
    let served = Journal<Int>()
    let handles = (0..<100).map { number in
      let witness = Witness { released.write(number) }
      return pipe.signal.subscribe(onNext: { _ in
        served.write(number)
        _ = witness
      })
    }
    let leavers = Array(stride(from: 0, to: 100, by: step))

    for (count, leaver) in leavers.enumerated() {
      handles[leaver].dispose()
      #expect(released.count == count + 1)
    }
    pipe.next(1)
    first.subscribe(to: pipe.signal)
    pipe.next(2)

    let stayers = (0..<100).filter { !leavers.contains($0) }
    #expect(released.entries == leavers)
    #expect(served.entries == stayers + stayers)
    #expect(first.values == [2])
  }

  @Test(arguments: [true, false])
  func `a hundred thousand leave one after the other, the oldest first or last`(isOldestFirst: Bool)
  {
    let handles = (0..<100_000).map { _ in pipe.signal.subscribe() }
    first.subscribe(to: pipe.signal)

    for handle in isOldestFirst ? handles : handles.reversed() { handle.dispose() }
    pipe.next(1)

    #expect(first.values == [1])
  }

  @Test func `values sent by many threads come in one order for all subscribers`() async throws {
    first.subscribe(to: pipe.signal)
    second.subscribe(to: pipe.signal)

    try await race(4) { [pipe] index in
      for step in 0..<500 { pipe.next(index * 500 + step) }
    }
    try await first.values(count: 2_000)
    try await second.values(count: 2_000)

    #expect(first.values == second.values)
    #expect(first.violations.isEmpty)
    #expect(second.violations.isEmpty)
  }

  @Test func `a value that races the end never comes after it`() async throws {
    for _ in 0..<300 {
      let pipe = PublishSubject<Int>()
      let recorder = Recorder<Int>().subscribe(to: pipe.signal)

      try await race(3) { index in
        if index == 0 { pipe.completed() } else { pipe.next(index) }
      }
      try await recorder.ended()

      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `coming and going while values are sent breaks nothing`() async throws {
    first.subscribe(to: pipe.signal)

    try await race(3) { [pipe] index in
      for step in 0..<500 {
        if index == 0 { pipe.next(step) } else { pipe.signal.subscribe().dispose() }
      }
    }

    try await first.values(count: 500)
    #expect(first.violations.isEmpty)
  }

  @Test func `a send under a lock does not deadlock with a callback that wants it`() async throws {
    let scene = HeldLock()
    first.subscribe(to: pipe.signal) { event in
      if case .next(1) = event { scene.callback() }
    }

    try await scene.play(send: { [pipe] in pipe.next(1) }, meddle: { [pipe] in pipe.next(2) })

    #expect(first.values == [1, 2])
    #expect(first.violations.isEmpty)
  }

  @Test func `a subject that is released in its own callback fails there`() {
    let box = Box<PublishSubject<Int>>()
    box.put(PublishSubject())
    if let signal = box.value?.signal {
      first.subscribe(to: signal) { event in
        if case .next = event { box.take() }
      }
    }

    box.value?.next(1)

    #expect(first.values == [1])
    #expect(first.failure is SignalError)
  }

  @Test func `a capture of a subscriber may send into the subject when it is released`() {
    first.subscribe(to: pipe.signal)
    do {
      let witness = Witness { [pipe] in pipe.next(7) }
      pipe.signal.subscribe(onNext: { _ in _ = witness }).dispose()
    }

    #expect(first.values == [7])
  }
}
