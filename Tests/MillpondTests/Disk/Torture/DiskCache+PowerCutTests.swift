import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Power cuts, replayed on the recorded calls of a run: pages and names without synchronization are
/// lost in any combination, some of them by half.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCachePowerCutTests {
  static let seeds = Array(0..<Effort.rounds(24, few: 3))

  @Test(arguments: seeds)
  func `after a power cut every flushed value is there, or what was written over it`(
    seed: Int
  ) async throws {
    let run = try PowerCutRun(seed: seed)
    try await run.run(300)
    #expect(run.bytesCopied > 0)

    try await run.cut(Effort.rounds(100, few: 20), seed: seed)

    #expect(run.complaints == [])
  }
}
