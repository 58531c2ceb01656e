import Foundation
import MillpondCore
import MillpondSignals
import TestTraits
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3)), .heavy) struct MultiplexerKillTests {
  /// The same folder for the child, which has nothing but its parent's number.
  private static func folder(of process: Int32) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("millpond-mux-\(process)")
  }

  private static func users(in folder: URL) -> MultiplexerMap<Int, [Int]> {
    MultiplexerMap(persistence: .disk("users", in: folder)) { _ in throw CacheError.miss }
  }

  @Test func `a kill during a flush leaves each value old or new, and whole`()
    async throws
  {
    let folder = Self.folder(of: TestPlatform.process)
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(9)) {
      let folder = MultiplexerKillTests.folder(of: TestPlatform.parentProcess)
      let users = MultiplexerKillTests.users(in: folder)
      for key in 0..<50 { users.set(Array(repeating: 1, count: 1_000), for: key) }
      try await users.flush().value
      for key in 0..<50 { users.set(Array(repeating: 2, count: 1_000), for: key) }
      users.flush().subscribe()
      TestPlatform.killThisProcess()
    }

    let users = Self.users(in: folder)
    for key in 0..<50 {
      let value = try await users.get(key, freshness: .cachedOnly).value
      #expect(value.count == 1_000 && (Set(value) == [1] || Set(value) == [2]), "key \(key)")
    }
  }
}
