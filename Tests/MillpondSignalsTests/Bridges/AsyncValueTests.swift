import MillpondSignals
import MillpondTesting
import Testing

@Suite struct AsyncValueTests {
  let source = TestSource<Int>()

  @Test func `value is the first one, and the subscription ends with it`() async throws {
    async let value = source.signal.value
    try await source.subscriptions(count: 1)

    source.next(1)

    #expect(try await value == 1)
    try await source.disposals(count: 1)
  }

  @Test func `the value of a settled signal is there at once`() async throws {
    #expect(try await Signal.just(1).value == 1)
    #expect(try await Signal.of(1, 2).value == 1)
  }

  @Test func `the value of an empty signal is an error`() async {
    await #expect {
      try await Signal<Int>.empty.value
    } throws: { error in
      if case SignalError.empty = error { true } else { false }
    }
  }

  @Test func `a failure is thrown as it is`() async {
    await #expect(throws: Trouble.some) { try await Signal<Int>.fail(Trouble.some).value }
    await #expect(throws: Trouble.some) { try await Signal<Int>.fail(Trouble.some).valueIfAny }
  }

  @Test func `valueIfAny of an empty signal is nil`() async throws {
    #expect(try await Signal<Int>.empty.valueIfAny == nil)
    #expect(try await Signal.just(2).valueIfAny == 2)
  }

  @Test func `cancelling the task disposes and throws`() async throws {
    let task = Task { [source] in try await source.signal.value }
    try await source.subscriptions(count: 1)

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.disposals == 1)
  }

  @Test func `a task that was cancelled before subscribes to nothing`() async throws {
    let gate = Recorder<Int>()
    let pipe = PublishSubject<Int>()
    gate.subscribe(to: pipe.signal)
    let task = Task { [source] in
      _ = try? await gate.ended()
      return try await source.signal.value
    }
    task.cancel()
    pipe.completed()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.activeRuns == 0)
  }

  @Test func `a value that races the cancellation gives one answer`() async throws {
    for number in 0..<200 {
      let source = TestSource<Int>()
      let task = Task { try await source.signal.value }
      try await source.subscriptions(count: 1)

      try await race(2) { index in
        if index == 0 { task.cancel() } else { source.next(number) }
      }

      switch await task.result {
      case .success(let value): #expect(value == number)
      case .failure(let error): #expect(error is CancellationError)
      }
      #expect(source.activeRuns == 0)
    }
  }
}
