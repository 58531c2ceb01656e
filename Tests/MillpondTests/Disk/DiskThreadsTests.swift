import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// The small parts that have threads.
@Suite(.timeLimit(.minutes(3))) struct DiskThreadsTests {
  // MARK: - Synchronizing

  @Test func `callers that come while one synchronizes share the next`() async throws {
    let (sync, runs, done) = (GroupSync(), Watched(0), Watched(0))
    let gate = DispatchSemaphore(value: 0)
    let work: @Sendable () throws -> Void = {
      runs.change { $0 += 1 }
      if runs.state == 1 { _ = gate.wait(timeout: .now() + 10) }
    }
    sync.run(work) { _ in done.change { $0 += 1 } }
    try await runs.wait(for: "the first run") { $0 == 1 }

    for _ in 0..<100 { sync.run(work) { _ in done.change { $0 += 1 } } }
    gate.signal()

    try await done.wait(for: "all") { $0 == 101 }
    #expect(runs.state == 2)
  }

  @Test func `all callers that share it receive the failure, and the next one tries again`()
    async throws
  {
    let (sync, failures) = (GroupSync(), Watched([Bool]()))
    let isBroken = Watched(true)
    let work: @Sendable () throws -> Void = { if isBroken.state { throw POSIXError(.EIO) } }

    sync.run(work) { error in failures.change { $0.append(error != nil) } }
    try await failures.wait(for: "the first") { $0.count == 1 }
    isBroken.change { $0 = false }
    sync.run(work) { error in failures.change { $0.append(error != nil) } }

    try await failures.wait(for: "the second") { $0.count == 2 }
    #expect(failures.state == [true, false])
  }

  @Test func `a synchronization that is requested at the end of another one begins anew`()
    async throws
  {
    let (sync, rounds) = (GroupSync(), Watched(0))
    @Sendable func again(_ error: (any Error)?) {
      if rounds.change({
        $0 += 1; return $0
      }) < 50 {
        sync.run({}, again)
      }
    }

    sync.run({}, again)

    try await rounds.wait(for: "fifty") { $0 == 50 }
  }

  // MARK: - Queues for reading

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
