import Foundation
import MillpondCore
import MillpondSignals
import TestTraits
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3)), .heavy) struct RepositoryTerminationTests {
  /// The same folder for the child, which has nothing but its parent's number.
  private static func folder(of process: Int32) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("millpond-term-\(process)")
  }

  @Test func `a process that is asked to terminate flushes first, and then does so`() async throws {
    let folder = Self.folder(of: TestPlatform.process)
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(SIGTERM)) {
      let folder = RepositoryTerminationTests.folder(of: TestPlatform.parentProcess)
      let disk = DiskCache(directory: folder, byteLimit: .mebibytes(1))
      let repository = Repository()
      try repository.add(disk, named: "disk")
      let listening = try repository.flushWhenTerminated()
      disk.set(Data([7]), for: "a")
      kill(getpid(), SIGTERM)
      try await Task.sleep(for: .seconds(30))
      withExtendedLifetime((listening, disk)) {}
    }

    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(1))
    #expect(try await disk.get("a").value == Data([7]))
    try await disk.close().value
  }
}
