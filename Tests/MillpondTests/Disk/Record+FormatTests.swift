import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct RecordFormatTests {
  private let record = Record(
    key: "key", value: Data("value"), bornAt: WallTime(microseconds: -5),
    validator: Validator(entityTag: "\"tag\"", lastModified: "yesterday"))

  private func read(_ file: Data, for key: String = "key") throws -> Record.Reading {
    let bytes = try FileBytes(count: file.count) { memory in
      memory.copyBytes(from: file)
    }
    return Record.read(bytes, for: key)
  }

  private func isDamaged(_ file: Data) throws -> Bool {
    if case .damaged = try read(file) { true } else { false }
  }

  @Test func `a record is read as it was written`() throws {
    guard case .whole(let copy) = try read(record.fileContents) else {
      Issue.record("not whole")
      return
    }

    #expect(copy.key == "key")
    #expect(copy.value == Data("value"))
    #expect(copy.bornAt.microseconds == -5)
    #expect(copy.validator == record.validator)
    #expect(copy.size == record.fileContents.count)
  }

  @Test(arguments: [
    nil, Validator(entityTag: ""), Validator(lastModified: ""),
    Validator(entityTag: "", lastModified: ""), Validator(entityTag: "x"),
  ])
  func `no tag is another thing than an empty one`(validator: Validator?) throws {
    let record = Record(key: "key", value: Data(), bornAt: .now, validator: validator)

    guard case .whole(let copy) = try read(record.fileContents) else {
      Issue.record("not whole")
      return
    }
    #expect(copy.validator == validator)
  }

  @Test(arguments: [0, 1, 32_767, 32_768, 100_000])
  func `a value of any size is whole, and outlives the file's bytes`(count: Int) throws {
    let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let record = Record(key: "key", value: value, bornAt: .now)

    guard case .whole(let copy) = try read(record.fileContents) else {
      Issue.record("not whole")
      return
    }
    #expect(copy.value == value)
  }

  @Test func `D8 a record that is cut at any length is damaged`() throws {
    let file = record.fileContents

    for length in 0..<file.count { #expect(try isDamaged(file.prefix(length))) }
    #expect(try isDamaged(file + [0]))
  }

  @Test func `D9 a record with any flipped bit is damaged`() throws {
    let file = record.fileContents

    for bit in 0..<file.count * 8 {
      var flipped = file
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try isDamaged(flipped))
    }
  }

  @Test(arguments: [16, 24, 32, 40], [UInt64(1) << 63, .max, 1 << 32, UInt64(Int.max)])
  func `D11 a length that is not the file's is damage`(offset: Int, length: UInt64) throws {
    var file = record.fileContents
    withUnsafeBytes(of: length.littleEndian) {
      file.replaceSubrange(offset..<offset + 8, with: $0)
    }

    #expect(try isDamaged(file))
  }

  @Test func `D17 a record is told from that of another key`() throws {
    guard case .ofOtherKey = try read(record.fileContents, for: "kez") else {
      Issue.record("taken for the other's")
      return
    }
  }

  @Test func `a record is for its key's bytes`() {
    let record = Record(key: "\u{E9}", value: Data(), bornAt: .now)

    #expect(record.isFor("\u{E9}"))
    #expect(!record.isFor("e\u{301}"))
  }
}
