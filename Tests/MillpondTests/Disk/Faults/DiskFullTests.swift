import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// On a volume of two mebibytes, that `.ci/disk-full` mounts.
@Suite(
  .timeLimit(.minutes(3)), .serialized, .enabled(if: volume != nil, "needs a small volume to fill"))
struct DiskFullTests {
  private var folder: URL {
    URL(filePath: volume ?? "", directoryHint: .isDirectory).appendingPathComponent("cache")
  }

  private func open() -> DiskCache {
    DiskCache(directory: folder, byteLimit: .mebibytes(64))
  }

  @Test(arguments: [1_000, 100_000])
  func `a full volume fails sets, and serves gets and later sets`(count: Int) async throws {
    let cache = open()
    try await cache.set(Data("old"), for: "kept").value
    var failed: [Int] = []
    for number in 0..<4_000_000 / count {
      let outcome = cache.set(Data(repeating: UInt8(number % 251), count: count), for: "\(number)")
      if let error = try await failure(of: outcome) {
        #expect(error.systemError == .ENOSPC)
        failed.append(number)
      }
    }

    #expect(!failed.isEmpty)
    #expect(try await failure(of: cache.set(Data(count: 300_000), for: "kept")) != nil)
    #expect(try await cache.get("kept").value == Data("old"))
    let lastGood = try #require(failed.first) - 1
    #expect(try await cache.get("\(lastGood)").value.count == count)
    for number in failed.prefix(3) { #expect(try await cache.get("\(number)").valueIfAny == nil) }

    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.hasSuffix(FileName.unfinishedSuffix) })
    try await cache.close().value
    let again = open()
    #expect(try await again.get("kept").value == Data("old"))
    #expect(try await again.get("\(lastGood)").value.count == count)
    try await again.close().value
    let smaller = DiskCache(directory: folder, byteLimit: .mebibytes(1))
    try await smaller.set(Data("new"), for: "kept").value
    #expect(try await smaller.get("kept").value == Data("new"))
    try await smaller.close().value
    // For the other test.
    let last = open()
    try await last.removeAll().value
    try await last.set(Data("old"), for: "kept").value
    try await last.close().value
  }

  @Test func `a read-only volume serves gets, and fails sets`() async throws {
    let cache = open()

    #expect(try await cache.get("kept").value == Data("old"))
    #expect(try await failure(of: cache.set(Data("new"), for: "kept"))?.systemError == .EROFS)
    #expect(try await cache.get("kept").value == Data("old"))
    try await cache.close().value
  }
}

private let volume = ProcessInfo.processInfo.environment["MILLPOND_FULL_VOLUME"]
