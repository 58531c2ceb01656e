import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// What a process that was killed while it sent a body leaves in the folder for temporary files.
@Suite(.timeLimit(.minutes(3))) struct SpooledFileTests {
  @Test func `files of dead processes are removed, and no others`() throws {
    let scene = DiskScene()
    try scene.makeFolder()
    let names = [
      "millpond-body-12.A", "millpond-body-13.B", "millpond-body-0A-1B", "millpond-body-.C",
      "millpond-other", "12.A",
    ]
    for name in names { try Data().write(to: scene.folder.appending(path: name)) }

    SpooledFile.sweep(scene.folder) { $0 == 13 }

    let left = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path)
    #expect(Set(left) == ["millpond-body-13.B", "millpond-other", "12.A"])
  }

  @Test func `a process that has ended is known to be dead, and one that runs to run`() throws {
    let ended = Process()
    ended.executableURL = URL(filePath: "/bin/sh")
    ended.arguments = ["-c", "exit 0"]
    try ended.run()
    ended.waitUntilExit()

    #expect(!CLibrary.isRunningOther(ended.processIdentifier))
    #expect(CLibrary.isRunningOther(TestPlatform.parentProcess))
    #expect(!CLibrary.isRunningOther(TestPlatform.process))
  }

  @Test func `a body that is spooled is in a file with the number of its process`() async throws {
    let body = HTTPBody.stream(.just(Data("x")), length: 1, contentType: "text/plain")

    let file = try await SpooledFile.of(body).value

    #expect(file.url.lastPathComponent.hasPrefix("millpond-body-\(TestPlatform.process)."))
    #expect(try Data(contentsOf: file.url) == Data("x"))
  }
}
