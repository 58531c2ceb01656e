import Testing

@testable import MillpondCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct TextFileTests {
  let files = MadeUpFiles()

  @Test(arguments: ["", "some text\n", String(repeating: "x", count: 5_000)])
  func `a file is read whole`(text: String) throws {
    files.write(text, to: "a")

    #expect(try TextFile.read("\(files.root)/a") == text)
  }

  @Test func `only the beginning of a long file is read`() throws {
    files.write(String(repeating: "x", count: TextFile.limit + 1), to: "a")

    #expect(try TextFile.read("\(files.root)/a").utf8.count == TextFile.limit)
  }

  @Test(arguments: ["", "/missing", "/\(String(repeating: "a", count: 300))"])
  func `a path that is not a file is an error`(name: String) {
    #expect(throws: TextFile.Failure.self) { try TextFile.read(files.root + name) }
  }

  @Test func `a pipe is not waited for, and the descriptor is closed`() throws {
    let path = "\(files.root)/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    defer { files.delete("pipe") }

    #expect(try TextFile.read(path) == "")

    // Opening the pipe for writing is refused only while no reader has it open.
    let writer = open(path, O_WRONLY | O_NONBLOCK)
    #expect(writer == -1 && errno == ENXIO)
    if writer >= 0 { close(writer) }
  }
}
