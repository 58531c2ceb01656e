import Foundation
import Testing

@testable import MillpondBench

@Suite final class OutputFileTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  @Test func `the written text replaces the former one`() throws {
    let path = folder.appending(path: "a.html").path()
    try OutputFile(path).write("long, and then")
    try OutputFile(path).write("short")

    #expect(try String(contentsOfFile: path, encoding: .utf8) == "short")
  }

  @Test func `to find out whether it can be written changes nothing`() throws {
    let (old, new) = (folder.appending(path: "old").path(), folder.appending(path: "new").path())
    try Data("kept".utf8).write(to: folder.appending(path: "old"))

    for path in [old, new] { _ = try OutputFile(path) }

    #expect(try String(contentsOfFile: old, encoding: .utf8) == "kept")
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test
  func `a missing folder, or a folder in place of a file, is reported at once and with its name`() {
    for path in [folder.path() + "/none/a.html", folder.path()] {
      let error = #expect(throws: FileTrouble.self) { try OutputFile(path) }
      #expect(error?.description.contains(path) == true)
    }
  }
}
