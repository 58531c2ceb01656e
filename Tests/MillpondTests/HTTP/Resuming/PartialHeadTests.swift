import Foundation
import MillpondCore
import TestTraits
import Testing

@testable import Millpond

@Suite final class PartialHeadTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)").path
  private let head: PartialHead

  init() throws {
    let version = ResourceVersion(
      condition: "\"1\"", validator: Validator(entityTag: "\"1\"", lastModified: "x"))
    head = PartialHead(
      UnfinishedFile(path: "", byteCount: 100, checksum: .max), version,
      at: PartialPlace(representation: Representation(identity: "http://a/b"), revision: .none))
    try head.write(to: FileSystem().open(path, .making))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  private func read() throws -> PartialHead? {
    try PartialHead(of: FileSystem().open(path, .reading))
  }

  private func bytes() throws -> Data {
    try Data(contentsOf: URL(filePath: path))
  }

  @Test func `a head is read as it was written, also in place of a longer one`() throws {
    try (bytes() + bytes()).write(to: URL(filePath: path))
    try head.write(to: FileSystem().open(path, .updating))

    #expect(try read() == head)
    #expect(
      head.resumePoint.version.validator == Validator(entityTag: "\"1\"", lastModified: "x"))
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
    for bit in stride(from: 0, to: whole.count * 8, by: Effort.stride(7)) {
      var damaged = whole
      damaged.flip(bit: bit)
      try damaged.write(to: URL(filePath: path))
      #expect(try read() == nil)
    }
  }
}
