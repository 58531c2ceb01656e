import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CreateTests {
  let recorder = Recorder<Int>()
  let journal = Journal<String>()

  @Test func `sent events arrive`() {
    recorder.subscribe(
      to: .create { observer, _ in
        observer.progress(SignalProgress(completed: 1, total: 2))
        observer.next(1)
        observer.completed()
      })

    #expect(recorder.transcript == ["progress 1/2", "next 1", "completed"])
  }

  @Test func `an error that the producer throws fails the signal, and the teardown runs once`() {
    recorder.subscribe(
      to: .create { [journal] _, lifetime in
        lifetime.onEnd { journal.write("down") }
        throw Trouble.some
      })

    #expect(recorder.transcript == ["failed some"])
    #expect(journal.entries == ["down"])
  }

  @Test func `an error that the producer throws after the end is ignored`() {
    recorder.subscribe(
      to: .create { observer, _ in
        observer.completed()
        throw Trouble.some
      })

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `events after the end are ignored`() {
    recorder.subscribe(
      to: .create { observer, _ in
        observer.completed()
        observer.next(1)
        observer.failed(Trouble.some)
      })

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an observer that is dropped fails as abandoned, and names the call`() {
    recorder.subscribe(to: .create { observer, _ in observer.next(1) })

    guard case SignalError.abandoned(let origin)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(recorder.values == [1])
    #expect(origin?.contains("CreateTests.swift") ?? true)
  }

  @Test func `an observer that is dropped later fails at that moment`() {
    let box = Box<Observer<Int>>()
    recorder.subscribe(to: .create { observer, _ in box.put(observer) })
    let wasEnded = recorder.end != nil

    box.take()

    #expect(!wasEnded)
    #expect(recorder.failure is SignalError)
  }

  @Test func `an observer that is dropped after disposal sends nothing`() {
    let box = Box<Observer<Int>>()
    recorder.subscribe(to: .create { observer, _ in box.put(observer) })

    recorder.dispose()
    box.take()

    #expect(recorder.events.isEmpty)
  }

  @Test func `disposal runs the teardown once and is silence`() {
    let box = Box<Observer<Int>>()
    recorder.subscribe(
      to: .create { [journal] observer, lifetime in
        lifetime.onEnd { journal.write("down") }
        box.put(observer)
      })

    recorder.dispose()
    recorder.dispose()
    box.value?.next(1)
    box.value?.completed()

    #expect(journal.entries == ["down"])
    #expect(recorder.events.isEmpty)
  }

  @Test func `the teardown runs when the signal ends by itself`() {
    recorder.subscribe(
      to: .create { [journal] observer, lifetime in
        lifetime.onEnd { journal.write("down") }
        observer.completed()
      })

    #expect(journal.entries == ["down"])
  }

  @Test func `a value sent from a callback is delivered after it`() {
    let box = Box<Observer<Int>>()
    recorder.subscribe(to: .create { observer, _ in box.put(observer) }) { event in
      if case .next(1) = event { box.value?.next(2) }
    }

    box.value?.next(1)
    box.take()

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a value that races the end never comes after it`() async throws {
    for _ in 0..<200 {
      let recorder = Recorder<Int>()
      let box = Box<Observer<Int>>()
      recorder.subscribe(to: .create { observer, _ in box.put(observer) })

      try await race(4) { index in
        box.value?.next(index)
        if index.isMultiple(of: 2) {
          box.value?.completed()
        } else {
          box.value?.failed(Trouble.some)
        }
        box.value?.next(index)
      }
      try await recorder.ended()

      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `a send under a lock does not deadlock with a callback that wants it`() async throws {
    let scene = HeldLock()
    let box = Box<Observer<Int>>()
    recorder.subscribe(to: .create { observer, _ in box.put(observer) }) { event in
      if case .next(1) = event { scene.callback() }
    }

    try await scene.play(send: { box.value?.next(1) }, meddle: { box.value?.next(2) })

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
    box.take()
  }
}
