import Dispatch
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct CommandQueueTests {
  private let commands = CommandQueue()
  private let done = Watched<[Int]>([])

  @Test func `commands are given one after the other, and wait until they are`() {
    let gate = DispatchSemaphore(value: 0)
    commands.run { _ = gate.wait(timeout: .now() + 30) }
    for number in 0..<3 { commands.run { [done] in done.change { $0.append(number) } } }

    #expect(commands.isWaiting)
    #expect(done.state.isEmpty)
    gate.signal()
    commands.queue.sync {}

    #expect(done.state == [0, 1, 2])
    #expect(!commands.isWaiting)
  }
}
