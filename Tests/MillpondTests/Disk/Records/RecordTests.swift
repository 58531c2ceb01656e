import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct RecordTests {
  private let validator = Validator(entityTag: "\"tag\"", lastModified: "yesterday")

  @Test(arguments: [0, 1, 100, 65_535])
  func `a record is read as it was written`(count: Int) throws {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let bytes = RecordBytes.make(key: "é", payload: payload, validator: validator) { head in
      head.schema = 9
      head.storedAt = WallTime(microseconds: -5)
      head.expiresAt = WallTime(microseconds: .max - 1)
    }

    let record = try #require(RecordBytes.read(bytes, for: "é").record)

    #expect(RecordBytes.read(bytes, for: "é").value == Data(payload))
    #expect(record.validator == validator)
    #expect(record.schema == 9)
    #expect(record.times.storedAt == WallTime(microseconds: -5))
    #expect(record.times.expiresAt == WallTime(microseconds: .max - 1))
    #expect(
      bytes.count == RecordHead.recordSize(key: "é", payload: count, validator))
  }

  @Test func `a record on disk is found by later builds`() {
    let bytes = RecordBytes.make(key: "a", payload: [1, 2]) { head in
      head.storedAt = WallTime(microseconds: 1)
      head.schema = 3
    }

    var expected: [UInt8] = [0x4D, 0x50, 0x6E, 0x64, 5, 1, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2]
    expected += [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 7)
    expected += [UInt8](repeating: 255, count: 7) + [127]
    #expect(Array(bytes.prefix(44)) == expected)
    #expect(Array(bytes.suffix(3)) == [97, 1, 2])
    var resealed = bytes
    RecordBytes.seal(&resealed)
    #expect(resealed == bytes)
  }

  @Test(arguments: [
    Validator(entityTag: "x"), Validator(lastModified: "y"),
    Validator(entityTag: "", lastModified: ""),
  ])
  func `a part of a validator stays a part`(validator: Validator) {
    #expect(RecordBytes.read(RecordBytes.make(validator: validator)).record?.validator == validator)
  }

  @Test func `a large value is distinguished from a small one`() throws {
    let large = FileValue(number: .max, length: 1 << 40, checksum: 42)
    let bytes = RecordBytes.make(.file, payload: large.bytes)

    guard case .file(let found) = RecordBytes.read(bytes).record?.content else {
      Issue.record("no file")
      return
    }
    #expect(found.number == .max && found.count == 1 << 40 && found.checksum == 42)
  }

  @Test(arguments: [RecordHead.Kind.removal, .removalOfAll])
  func `a removal is no value`(kind: RecordHead.Kind) {
    #expect(RecordBytes.read(RecordBytes.make(kind, payload: [])).isDamaged)
  }

  @Test func `a good record of another key is distinguished from damage`() {
    let bytes = RecordBytes.make(key: "a")

    for key in ["b", "", "aa"] { #expect(RecordBytes.read(bytes, for: key).isOfOtherKey) }
    #expect(RecordBytes.read(RecordBytes.make(key: "\u{E9}"), for: "e\u{301}").isOfOtherKey)
  }

  @Test func `a record is good only in the segment for which it was written`() {
    let bytes = RecordBytes.make(segment: 7)

    #expect(RecordBytes.read(bytes, segment: 8).isDamaged)
    #expect(RecordBytes.read(bytes, segment: 7).value != nil)
  }

  @Test func `a record that is copied is good only in the other segment`() throws {
    let bytes = RecordBytes.make(validator: validator, segment: 7)
    let front = RecordBytes.readFront(bytes) { $0.front?.head }
    let head = try #require(front)
    var buffer = RecordBuffer()

    bytes.withUnsafeBytes { buffer.append($0, head, segment: 8) }

    #expect(RecordBytes.read(buffer.bytes, segment: 8).value == Data("value"))
    #expect(RecordBytes.read(buffer.bytes, segment: 8).record?.validator == validator)
    #expect(RecordBytes.read(buffer.bytes, segment: 7).isDamaged)
  }

  @Test func `a record that is cut anywhere, or longer than it says, is damaged`() {
    let bytes = RecordBytes.make(validator: validator)

    for count in 0..<bytes.count {
      #expect(RecordBytes.read(Array(bytes.prefix(count))).isDamaged)
      guard count < RecordHead.size + 3 else { continue }
      let needsMore = RecordBytes.readFront(Array(bytes.prefix(count))) { $0.needsMore }
      #expect(needsMore, "\(count) bytes are no front")
    }
    #expect(RecordBytes.read(bytes + [0]).isDamaged)
  }

  @Test func `a record with any bit flipped is damaged`() {
    let bytes = RecordBytes.make(validator: validator)

    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(RecordBytes.read(flipped).isDamaged)
    }
  }

  @Test func `a flip behind the key leaves the front good, and the record not`() {
    var bytes = RecordBytes.make(validator: validator)
    bytes[RecordHead.size + 3] ^= 1

    RecordBytes.readFront(bytes + [0]) { reading in
      let record = reading.front
      #expect(record?.head.recordSize == bytes.count)
      #expect(record?.bytes.count == bytes.count)
      #expect(record?.isWhole == false)
    }
  }

  @Test func `the front of a record that is cut behind its key is good, and the rest is missed`() {
    let large = FileValue(number: 1, length: 2, checksum: 3)
    let bytes = RecordBytes.make(.file, payload: large.bytes)

    for count in RecordHead.size + 3..<bytes.count {
      RecordBytes.readFront(Array(bytes.prefix(count))) { reading in
        let record = reading.front
        #expect(record?.key.elementsEqual("key".utf8) == true)
        #expect(record?.isWhole == false)
        #expect(record?.largeValue == nil && record?.valueSize == nil)
      }
    }
    let size = RecordBytes.readFront(bytes) { $0.front?.valueSize }
    #expect(size == 2)
  }

  @Test(arguments: [12, 16, 20, 24], [UInt32.max, 1 << 31, 1_000, 6])
  func `a record with a wrong length and a right checksum is damaged`(
    offset: Int, length: UInt32
  ) {
    var bytes = RecordBytes.make()
    RecordBytes.put(UInt64(length), 4, &bytes, offset)
    RecordBytes.seal(&bytes)

    #expect(RecordBytes.read(bytes).isDamaged)
  }

  @Test(arguments: [(4, UInt8(1)), (4, 3), (5, 0), (5, 5), (0, 0)])
  func `a record of another version or kind is damaged`(offset: Int, value: UInt8) {
    var bytes = RecordBytes.make()
    bytes[offset] = value
    RecordBytes.seal(&bytes)

    #expect(RecordBytes.read(bytes).isDamaged)
  }

  @Test func `a text that is no UTF-8 in a validator traps nothing`() {
    var bytes = RecordBytes.make(validator: Validator(entityTag: "abcd"))
    bytes[bytes.count - 2] = 0xFF
    RecordBytes.seal(&bytes)

    #expect(RecordBytes.read(bytes).record?.validator?.entityTag?.isEmpty == false)
  }

  @Test(arguments: [0, 23, 25])
  func `a large value's record of another size is damage`(count: Int) {
    let bytes = RecordBytes.make(.file, payload: [UInt8](repeating: 0, count: count))

    #expect(RecordBytes.read(bytes).isDamaged)
  }

  @Test(arguments: [UInt64.max, UInt64(1) << 63, (UInt64(1) << 40) + 1])
  func `a record of a large value with an impossible length is damaged`(length: UInt64) {
    let large = FileValue(number: 1, length: length, checksum: 0)

    #expect(RecordBytes.read(RecordBytes.make(.file, payload: large.bytes)).isDamaged)
  }

  @Test func `sizes that can't be added up are larger than any record may be`() {
    let greatest = RecordHead.greatestSize
    let size = { RecordHead.recordSize(key: "", payload: $0, nil) }

    #expect(size(.max) > greatest)
    #expect(size(greatest) > greatest)
    #expect(size(greatest - RecordHead.size) == greatest)
  }
}
