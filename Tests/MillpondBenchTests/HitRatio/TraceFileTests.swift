import Foundation
import Testing

@testable import MillpondBench

@Suite final class TraceFileTests {
  /// The keys 1, 2 and 1, compressed.
  private static let compressed = Data(
    base64Encoded: """
      /Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AAXAAtdAACAPa3PK9dcpyxAAAAw6FKw5EKtBQABJxgYny/p\
      H7bzfQEAAAAABFla
      """)

  private static let hasXZ =
    ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/xz") } == true

  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  @Test(arguments: [
    ("a.u64", "a"), ("a.b.u64u32", "a.b"), ("a.u64.xz", "a"), ("a.u64u32.xz", "a"),
  ])
  func `a file with the extension of a trace has a name`(file: String, name: String) throws {
    let file = try #require(TraceFile(folder.appending(path: file)))

    #expect(file.name == name)
  }

  @Test(arguments: ["README.md", "u64", "xz", "u64.xz", "a.u64.gz", "a.u32", "a.xz", ""])
  func `a file with another name is no trace`(file: String) {
    #expect(TraceFile(folder.appending(path: file)) == nil)
  }

  @Test func `traces are found in the folder and in those in it`() throws {
    for path in ["b.u64", "open/a.u64.xz", "open/README.md", "open/deep/c.u64", "d.u64/e.u64"] {
      try write(Data(), to: path)
    }

    #expect(try TraceFile.all(in: folder.path()).map(\.name) == ["b", "e", "a", "c"])
  }

  @Test func `a folder without traces is reported with its name, and one that is missing too`()
    throws
  {
    try write(Data(), to: "README.md")

    let error = #expect(throws: FileTrouble.self) { try TraceFile.all(in: folder.path()) }
    #expect(error?.description.contains(folder.path()) == true)
    #expect(throws: (any Error).self) { try TraceFile.all(in: folder.path() + "none") }
  }

  @Test(arguments: [("cut.u64", 15), ("cut.u64u32", 23), ("empty.u64", 0)])
  func `a trace that is cut or empty is reported with its name`(name: String, count: Int) throws {
    let file = try file(name, Data(count: count))

    let error = #expect(throws: FileTrouble.self) { try file.read() }
    #expect(error?.description.contains(name) == true)
  }

  @Test func `keys and sizes are little-endian`() throws {
    let file = try file("a.u64", Data([1, 2, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0x80]))

    #expect(try file.read().keys == [0x0201, 0x8000_0000_0000_00FF])
    #expect(try file.read().sizes == nil)
  }

  @Test func `a plain file is read as it is`() throws {
    let file = try file("a.u64u32", Data([1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]))

    let trace = try file.read()
    #expect(trace.keys == [1])
    #expect(trace.sizes == [9])
  }

  @Test func `a missing file is reported with its name`() throws {
    let file = try #require(TraceFile(folder.appending(path: "gone.u64")))

    let error = #expect(throws: (any Error).self) { try file.read() }
    #expect(error.map { "\($0)".contains("gone.u64") } == true)
  }

  @Test(.enabled(if: hasXZ))
  func `a compressed file is read by way of xz`() throws {
    let file = try file("white space.u64.xz", try #require(Self.compressed))

    #expect(try file.read().keys == [1, 2, 1])
  }

  @Test(.enabled(if: hasXZ), arguments: [1, 20, 40])
  func `a compressed file that is cut is an error`(missing: Int) throws {
    let file = try file("cut.u64.xz", try #require(Self.compressed).dropLast(missing))

    let error = #expect(throws: FileTrouble.self) { try file.read() }
    #expect(error?.description.contains("cut.u64.xz") == true)
  }

  @Test(.enabled(if: hasXZ))
  func `a file that is not compressed as its name says is an error`() throws {
    let file = try file("plain.u64.xz", Data(repeating: 1, count: 80))

    #expect(throws: FileTrouble.self) { try file.read() }
  }

  private func file(_ name: String, _ content: Data) throws -> TraceFile {
    try write(content, to: name)
    return try #require(TraceFile(folder.appending(path: name)))
  }

  private func write(_ content: Data, to path: String) throws {
    let url = folder.appending(path: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: url)
  }
}
