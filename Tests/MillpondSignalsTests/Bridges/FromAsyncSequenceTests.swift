import MillpondTesting
import Testing

@testable import MillpondSignals

@Suite struct FromAsyncSequenceTests {
  let recorder = Recorder<Int>()

  @Test func `the elements are sent in order, and then the completion`() async throws {
    recorder.subscribe(to: .from(numbers(1...3)))

    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an error of the sequence fails the signal after the elements before it`()
    async throws
  {
    let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
    continuation.yield(1)
    continuation.finish(throwing: Trouble.some)

    recorder.subscribe(to: .from(stream))
    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "failed some"])
  }

  @Test func `nothing is iterated before a subscription, and each iterates anew`() async throws {
    let loops = Journal<Int>()
    let signal = Signal.from(Loops(loops))
    let before = loops.count

    let values = [try await signal.value, try await signal.value]

    #expect(before == 0)
    #expect(values == [1, 2])
  }

  @Test func `disposal cancels the task and is silence`() async throws {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let isCancelled = Watched(false)
    continuation.onTermination = { reason in
      if case .cancelled = reason { isCancelled.change { $0 = true } }
    }
    recorder.subscribe(to: .from(stream))
    continuation.yield(1)
    try await recorder.values(count: 1)

    recorder.dispose()

    try await isCancelled.wait(for: "the task to be cancelled") { $0 }
    #expect(recorder.transcript == ["next 1"])
  }

  @Test func `an element that comes in spite of the cancellation is not sent`() async throws {
    let gate = Watched(false)
    let lifetime = Lifetime()
    let journal = Journal<Int>()
    let done = Watched(false)
    let witness = Witness { done.change { $0 = true } }
    let signal = Signal.from(Stubborn(gate))

    signal.run(
      Observer(
        next: { [witness] value in
          _ = witness
          journal.write(value)
        }, other: { _ in journal.write(-1) }), lifetime)
    lifetime.end()
    gate.change { $0 = true }

    _ = consume witness
    try await done.wait(for: "the task to let go of the observer") { $0 }
    #expect(journal.entries.isEmpty)
  }

  @Test func `disposal during the subscription cancels the task`() async throws {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let isOver = Watched(false)
    continuation.onTermination = { _ in isOver.change { $0 = true } }
    let lifetime = Lifetime()
    lifetime.end()

    Signal.from(stream).start?(Observer(next: { _ in }, other: { _ in }), lifetime)

    try await isOver.wait(for: "the iteration to be cancelled") { $0 }
  }

  @Test func `take stops an endless sequence`() async throws {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let isOver = Watched(false)
    continuation.onTermination = { _ in isOver.change { $0 = true } }
    recorder.subscribe(to: Signal.from(stream).take(2))

    for value in 1...3 { continuation.yield(value) }
    try await recorder.ended()

    try await isOver.wait(for: "the iteration to be cancelled") { $0 }
    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  private func numbers(_ range: ClosedRange<Int>) -> AsyncStream<Int> {
    AsyncStream { continuation in
      for number in range { continuation.yield(number) }
      continuation.finish()
    }
  }
}

/// Sends the number of the loop, and ends.
private struct Loops: AsyncSequence, Sendable {
  let loops: Journal<Int>

  init(_ loops: Journal<Int>) {
    self.loops = loops
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    var number: Int?

    mutating func next() async -> Int? {
      defer { number = nil }
      return number
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    loops.write(1)
    return AsyncIterator(number: loops.count)
  }
}

/// Goes on for two elements, whether or not its task is cancelled, once the gate is open.
private struct Stubborn: AsyncSequence, Sendable {
  let gate: Watched<Bool>

  init(_ gate: Watched<Bool>) {
    self.gate = gate
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    let gate: Watched<Bool>
    var left = 2

    mutating func next() async -> Int? {
      // A task of its own does not receive the cancellation.
      await Task { [gate] in try? await gate.wait(for: "the gate to open") { $0 } }.value
      left -= 1
      return left < 0 ? nil : left
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(gate: gate)
  }
}
