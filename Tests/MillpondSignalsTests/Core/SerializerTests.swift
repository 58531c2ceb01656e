import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SerializerTests {
  let recorder = Recorder<Int>()

  func serialized(_ react: @escaping @Sendable (Event<Int>) -> Void = { _ in }) -> Serializer<Int> {
    let box = Box<Serializer<Int>>()
    recorder.subscribe(
      to: Signal { observer, lifetime in box.put(Serializer(observer, lifetime)) }, react)
    return box.take() ?? Serializer(Observer(next: { _ in }, other: { _ in }), Lifetime())
  }

  @Test func `one of many racing ends passes, and nothing after it`() async throws {
    for _ in 0..<200 {
      let recorder = Recorder<Int>()
      let signal = Signal<Int> { observer, lifetime in
        let serializer = Serializer(observer, lifetime)
        for index in 0..<4 {
          onThread {
            serializer.send(.next(index))
            serializer.send(index.isMultiple(of: 2) ? .completed : .failed(Trouble.some))
            serializer.send(.next(index))
          }
        }
      }
      recorder.subscribe(to: signal)

      try await recorder.ended()

      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `values sent by many threads arrive one at a time, each thread's in its order`()
    async throws
  {
    let serializer = serialized()

    try await race(4) { index in
      for step in 0..<1_000 { serializer.send(.next(index * 1_000 + step)) }
    }
    try await recorder.values(count: 4_000)

    #expect(recorder.violations.isEmpty)
    for index in 0..<4 {
      let own = recorder.values.filter { $0 / 1_000 == index }
      #expect(own == Array(index * 1_000..<(index + 1) * 1_000))
    }
  }

  @Test func `a value sent inside a callback comes after the present one`() {
    let box = Box<Serializer<Int>>()
    let serializer = serialized { event in
      if case .next(let value) = event, value < 3 { box.value?.send(.next(value + 1)) }
    }
    box.put(serializer)

    serializer.send(.next(1))

    #expect(recorder.values == [1, 2, 3])
    #expect(recorder.violations.isEmpty)
    box.take()
  }

  @Test func `twenty thousand re-entrant sends use constant stack`() {
    let box = Box<Serializer<Int>>()
    let count = 20_000
    let serializer = serialized { event in
      if case .next(let value) = event, value < count { box.value?.send(.next(value + 1)) }
    }
    box.put(serializer)

    serializer.send(.next(1))

    #expect(recorder.values.last == count)
    box.take()
  }

  @Test func `progress that waits is conflated`() {
    let box = Box<Serializer<Int>>()
    let serializer = serialized { event in
      guard case .next(1) = event else { return }
      for step in 1...3 { box.value?.send(.progress(SignalProgress(completed: step))) }
      box.value?.send(.next(2))
      box.value?.send(.progress(SignalProgress(completed: 4)))
    }
    box.put(serializer)

    serializer.send(.next(1))

    #expect(recorder.transcript == ["next 1", "progress 3/?", "next 2", "progress 4/?"])
    box.take()
  }

  @Test func `events after the end are ignored`() {
    let serializer = serialized()

    serializer.send(.completed)
    serializer.send(.next(1))
    serializer.send(.failed(Trouble.some))

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations.isEmpty)
  }
}
