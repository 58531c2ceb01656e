import MillpondSignals

/// The values of a store that are being written to files as they come, by the numbers of the files.
final class RunningStreams: Sendable {
  private struct State: Sendable {
    var numbers: Set<UInt64> = []
    var waiting: [Waiting] = []
  }

  private struct Waiting: Sendable {
    var numbers: Set<UInt64>
    let run: @Sendable () -> Void
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> {
    state.withLock { $0.numbers }
  }

  func add(_ number: UInt64) {
    state.withLock { _ = $0.numbers.insert(number) }
  }

  func remove(_ number: UInt64) {
    let ready = state.withLock { state -> [Waiting] in
      guard state.numbers.remove(number) != nil else { return [] }
      for place in state.waiting.indices { state.waiting[place].numbers.remove(number) }
      defer { state.waiting.removeAll { $0.numbers.isEmpty } }
      return state.waiting.filter { $0.numbers.isEmpty }
    }
    for waiting in ready { waiting.run() }
  }

  /// Runs `body` when those of these streams have ended that have not yet.
  func afterEnd(of numbers: Set<UInt64>, _ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      let left = state.numbers.intersection(numbers)
      if !left.isEmpty { state.waiting.append(Waiting(numbers: left, run: body)) }
      return left.isEmpty
    }
    if isOver { body() }
  }
}
