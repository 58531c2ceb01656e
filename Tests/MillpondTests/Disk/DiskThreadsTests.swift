import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// The queues for reading.
@Suite(.timeLimit(.minutes(3))) struct DiskThreadsTests {
  @Test func `the work of one key is done in order, and another key need not wait`()
    async throws
  {
    let (lanes, order) = (ReadQueues("a lane", count: 4), Watched([Int]()))
    let gate = DispatchSemaphore(value: 0)
    lanes.run(KeyHash(value: 0)) { _ = gate.wait(timeout: .now() + 10) }
    for number in 0..<100 {
      lanes.run(KeyHash(value: UInt64(4 * number))) { order.change { $0.append(number) } }
    }

    lanes.run(KeyHash(value: .max)) { order.change { $0.append(-1) } }
    try await order.wait(for: "the other lane") { $0 == [-1] }
    gate.signal()

    try await order.wait(for: "all") { $0.count == 101 }
    #expect(order.state == [-1] + Array(0..<100))
  }
}
