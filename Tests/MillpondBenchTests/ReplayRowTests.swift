import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct ReplayRowTests {
  /// Allocations are counted for the whole process, so it has one of its own.
  @Test func `a value that is replayed copies none of those before it`() async {
    await #expect(processExitsWith: .success) {
      let row = try #require(replayRows().first { $0.name == "replay-1000" })

      let allocations = AllocationCount.during { _ = row.body.run(20_000) }

      #expect((allocations ?? 0) < 200)
    }
  }
}
