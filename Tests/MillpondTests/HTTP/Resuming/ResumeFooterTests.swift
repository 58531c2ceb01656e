import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite final class ResumeFooterTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)").path
  private let tail: ResumeFooter

  init() throws {
    try Data(0..<100).write(to: URL(filePath: path))
    let version = ResourceVersion(
      condition: "\"1\"", validator: Validator(entityTag: "\"1\"", lastModified: "x"))
    tail = ResumeFooter(
      UnfinishedFile(path: path, byteCount: 100, checksum: .max),
      PartialHead(
        PartialPlace(representation: Representation(identity: "http://a/b"), revision: .none),
        version))
    try tail.write(to: FileSystem().open(path, .updating))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  private func read() throws -> ResumeFooter? {
    try ResumeFooter(of: FileSystem().open(path, .reading))
  }

  private func bytes() throws -> Data {
    try Data(contentsOf: URL(filePath: path))
  }

  @Test func `a tail is read as it was written, and the bytes before it are as they were`() throws {
    #expect(try read() == tail)
    #expect(tail.head.version.validator == Validator(entityTag: "\"1\"", lastModified: "x"))
    #expect(try bytes().prefix(100) == Data(0..<100))
  }

  @Test func `of any length but its own a file has none`() throws {
    let whole = try bytes()
    for length in stride(from: 0, to: whole.count, by: 1) {
      try whole.prefix(length).write(to: URL(filePath: path))
      #expect(try read() == nil)
    }
    try (whole + [0]).write(to: URL(filePath: path))
    #expect(try read() == nil)
  }

  @Test func `with any of its bits flipped it is rejected`() throws {
    let whole = try bytes()
    for bit in 100 * 8..<whole.count * 8 {
      var damaged = whole
      damaged.flip(bit: bit)
      try damaged.write(to: URL(filePath: path))
      #expect(try read() == nil)
    }
  }
}
