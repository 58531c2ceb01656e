#if os(Linux)
  import Dispatch
  import Foundation
  import MillpondTesting
  import Testing

  @testable import Millpond

  @Suite struct DelegateQueueTests {
    private let commands = CommandQueue()
    private let queue: HoldingQueue
    private let done = Watched<[Int]>([])

    init() {
      queue = HoldingQueue(commands)
    }

    private func add(_ numbers: Range<Int>) {
      for number in numbers {
        queue.addOperation { [done] in done.change { $0.append(number) } }
      }
    }

    @Test func `things are done one after the other`() async throws {
      add(0..<1_000)

      try await done.wait(for: "all of it") { $0.count == 1_000 }
      #expect(done.state == Array(0..<1_000))
    }

    @Test func `who stands still keeps nobody for ever, and nothing is lost`() async throws {
      let gate = DispatchSemaphore(value: 0)
      queue.addOperation { _ = gate.wait(timeout: .now() + 30) }

      // More than may wait: this returns only because who adds gives up.
      add(0..<67)
      #expect(done.state.isEmpty)
      gate.signal()

      try await done.wait(for: "all of it") { $0.count == 67 }
      #expect(done.state == Array(0..<67))
    }
  }
#endif
