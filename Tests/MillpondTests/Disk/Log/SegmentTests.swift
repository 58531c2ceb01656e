import Foundation
import TestTraits
import Testing

@testable import Millpond

@Suite struct SegmentTests {
  let scene = DiskScene()

  private enum Step: Equatable {
    case record(Int, String, isWhole: Bool)
    case damage(Int)
  }

  private func segment(_ bytes: [UInt8], _ number: UInt32 = 7) throws -> Segment {
    try scene.makeFolder()
    let url = scene.url("segment")
    try Data(bytes).write(to: url)
    return Segment(number, try FileSystem().open(url.path, .reading))
  }

  private func steps(_ bytes: [UInt8], from: Int = 0) throws -> [Step] {
    let reader = try SegmentReader(try segment(bytes), from: from, to: bytes.count)
    var steps: [Step] = []
    while let step = try reader.next() {
      switch step {
      case .damage(let offset): steps.append(.damage(offset))
      case .otherVersion: Issue.record("a version")
      case .record(let offset, let record):
        let key = String(decoding: record.key, as: UTF8.self)
        steps.append(.record(offset, key, isWhole: record.isWhole))
      }
    }
    return steps
  }

  private let records = ["a", "b", "c"].map { RecordBytes.make(key: $0) }

  @Test func `records are read one after the other, from any of them on`() throws {
    let bytes = records.flatMap { $0 }
    let size = records[0].count

    let all: [Step] = [
      .record(0, "a", isWhole: true), .record(size, "b", isWhole: true),
      .record(2 * size, "c", isWhole: true),
    ]
    #expect(try steps(bytes) == all)
    #expect(try steps(bytes, from: size) == Array(all.dropFirst()))
    #expect(try steps(bytes, from: bytes.count) == [])
    #expect(try steps([]) == [])
  }

  @Test func `a flip of any bit hides one record at most`() throws {
    let bytes = records.flatMap { $0 }
    let size = records[0].count

    for bit in stride(from: size * 8, to: 2 * size * 8, by: Effort.stride(5)) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      let isInPayload = bit / 8 - size > RecordHead.size
      let isInSum = (48..<56).contains(bit / 8 - size)
      let middle: Step =
        isInPayload || isInSum ? .record(size, "b", isWhole: false) : .damage(size)
      #expect(
        try steps(flipped) == [
          .record(0, "a", isWhole: true), middle, .record(2 * size, "c", isWhole: true),
        ])
    }
  }

  @Test func `a segment that is cut anywhere yields its whole records`() throws {
    let bytes = records.flatMap { $0 }
    let size = records[0].count

    for count in 0..<bytes.count {
      let found = try steps(Array(bytes.prefix(count)))
      let whole = count / size
      #expect(found.count == whole + (count % size == 0 ? 0 : 1))
      #expect(
        found.prefix(whole).allSatisfy { if case .record(_, _, true) = $0 { true } else { false } })
    }
  }

  @Test func `bytes between records are skipped, whatever they are`() throws {
    let size = records[0].count
    for rubbish in [[0], [0x4D], [0x4D, 0x50, 0x6E, 0x64], Array(records[1].prefix(50))] {
      let bytes = records[0] + rubbish + records[2]
      let found = try steps(bytes)

      #expect(found.first == .record(0, "a", isWhole: true))
      #expect(found.last == .record(size + rubbish.count, "c", isWhole: true))
      #expect(found.contains(.damage(size)))
    }
  }

  @Test func `a record of another segment is skipped`() throws {
    let bytes = records[0] + RecordBytes.make(key: "b", segment: 8) + records[2]

    #expect(try steps(bytes).map { if case .damage = $0 { 1 } else { 0 } } == [0, 1, 0])
  }

  @Test func `a record that is larger than what is read at a time is read`() throws {
    let large = RecordBytes.make(key: "large", payload: [UInt8](repeating: 7, count: (1 << 20) + 7))
    let rubbish = [UInt8](repeating: 0x4D, count: (1 << 20) + 7)
    let bytes = records[0] + large + rubbish + records[1]

    let end = records[0].count + large.count
    #expect(
      try steps(bytes) == [
        .record(0, "a", isWhole: true), .record(records[0].count, "large", isWhole: true),
        .damage(end), .record(end + rubbish.count, "b", isWhole: true),
      ])
  }

  @Test func `a record whose length reaches beyond the end is skipped`() throws {
    var bytes = RecordBytes.make(key: "b")
    RecordBytes.put(UInt64(UInt32.max), 4, &bytes, 16)
    RecordBytes.seal(&bytes)

    let found = try steps(records[0] + bytes + records[2])

    #expect(found.count == 3)
    #expect(found.last == .record(2 * records[0].count, "c", isWhole: true))
  }

  @Test func `a file that is shorter than was said comes to its end`() throws {
    let bytes = records.flatMap { $0 }
    let reader = try SegmentReader(try segment(bytes), from: 0, to: bytes.count + 1_000)

    var count = 0
    while try reader.next() != nil { count += 1 }

    #expect(count <= 4)
  }

  @Test func `a table finds the segments that are in it, and no others`() throws {
    let file = try segment([]).file
    var table = SegmentTable()
    for number: UInt32 in [2, 3, 7, .max] { table.append(Segment(number, file)) }

    for number: UInt32 in [2, 3, 7, .max] { #expect(table[number]?.number == number) }
    for number: UInt32 in [0, 1, 4, 8] { #expect(table[number] == nil) }
    table.removeOldest()
    #expect(table[2] == nil && table[3] != nil)
  }
}
