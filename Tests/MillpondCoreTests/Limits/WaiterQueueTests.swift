import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct WaiterQueueTests {
  /// Returns a waiter, and the flight whose urgency is its own.
  private func waiter(_ priority: Priority) -> (waiter: QueuedWaiter<Never>, flight: FlightHandle) {
    let flight = FlightHandle(priority, FlightClock(ManualClock()))
    return (QueuedWaiter<Never>(.shared(.any, flight), Lifetime()) { _ in }, flight)
  }

  @Test func `however many have become less urgent, a step passes over a few`() {
    var queue = WaiterQueue<Never>()
    let waiters = (0..<1_000).map { _ in waiter(.high) }
    for (waiter, _) in waiters { queue.enter(waiter) }
    for (_, flight) in waiters { _ = flight.setPriority(.low) }

    var steps = 0
    var first: QueuedWaiter<Never>?
    while first == nil {
      if case .next(let waiter) = queue.popFirst(if: { _ in true }) { first = waiter }
      steps += 1
    }

    #expect(first === waiters[0].waiter)
    #expect(steps == 1_000 / WaiterQueue<Never>.stepSize + 1 && steps > 10)
    // Each is passed over once.
    for (waiter, _) in waiters.dropFirst() {
      guard case .next(let next) = queue.popFirst(if: { _ in true }) else {
        Issue.record("none")
        return
      }
      #expect(next === waiter)
    }
    #expect(queue.isEmpty)
  }

  @Test(arguments: 0..<20)
  func `the most urgent one is next, whatever came before`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var queue = WaiterQueue<Never>()
    var waiting: [(waiter: QueuedWaiter<Never>, flight: FlightHandle)] = []
    for _ in 0..<400 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0...2:
        waiting.append(waiter(Priority.allCases.randomElement(using: &random) ?? .low))
        queue.enter(waiting[waiting.count - 1].waiter)
      case 3:
        guard let one = waiting.randomElement(using: &random) else { continue }
        _ = one.flight.setPriority(Priority.allCases.randomElement(using: &random) ?? .low)
        queue.raise(one.waiter)
      case 4:
        guard let place = waiting.indices.randomElement(using: &random) else { continue }
        let gone = waiting.remove(at: place).waiter
        let (first, second) = (queue.leave(gone), queue.leave(gone))
        #expect(first && !second)
      default:
        let highest = waiting.map(\.flight.priority).max()
        let expected = waiting.firstIndex { $0.flight.priority == highest }
        guard case .next(let next) = queue.popFirst(if: { _ in true }) else {
          #expect(expected == nil)
          continue
        }
        #expect(expected.map { waiting.remove(at: $0).waiter } === next)
      }
      #expect(queue.isEmpty == waiting.isEmpty)
    }
  }
}
