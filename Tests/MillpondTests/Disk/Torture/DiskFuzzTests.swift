import Foundation
import MillpondCore
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Files with changed bytes and right checksums.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskFuzzTests {
  /// Changes bytes in a few ways.
  private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededNumbers) {
    guard bytes.count > 8 else { return }
    let place = random.next(bytes.count)
    switch random.next(7) {
    case 0: bytes[place] ^= 1 << UInt8(random.next(8))
    case 1: bytes[place] = UInt8(random.next(256))
    case 2: bytes.removeLast(min(bytes.count - 1, random.next(bytes.count)))
    case 3:
      let end = min(bytes.count, place + random.next(100))
      bytes.insert(contentsOf: bytes[place..<end], at: random.next(bytes.count))
    case 4: bytes.removeSubrange(place..<min(bytes.count, place + random.next(100)))
    case 5: bytes.append(contentsOf: (0..<random.next(200)).map { UInt8(truncatingIfNeeded: $0) })
    default:
      let numbers: [UInt64] = [
        0, 1, .max, 1 << 31, 1 << 32 - 1, 1 << 63, UInt64(bytes.count), UInt64(random.next(1_000)),
      ]
      let width = random.next(2) == 0 ? 4 : 8
      // The lengths and counts are at the start.
      let offset = random.next(min(bytes.count - width, 60) + 1)
      RecordBytes.put(numbers[random.next(numbers.count)], width, &bytes, offset)
    }
  }

  @Test(arguments: 0..<4)
  func `no bytes make the reading of a record trap, and none but good ones give a value`(
    seed: Int
  ) {
    var random = SeededNumbers(seed)
    let validator = Validator(entityTag: "tag", lastModified: "date")
    let corpus = [
      RecordBytes.make(validator: validator), RecordBytes.make(payload: []),
      RecordBytes.make(.removal, payload: []),
      RecordBytes.make(.removalOfAll, key: "", payload: []),
      RecordBytes.make(.file, payload: FileValue(number: 1, length: 70_000, checksum: 3).bytes),
    ]
    var sealedCount = 0

    for _ in 0..<Effort.rounds(10_000, few: 2_000) {
      let original = corpus[random.next(corpus.count)]
      var bytes = original
      for _ in 0...random.next(3) { Self.mutate(&bytes, &random) }
      if bytes != original { #expect(RecordBytes.read(bytes).record == nil) }
      RecordBytes.seal(&bytes)
      RecordBytes.readFront(bytes) { reading in
        let record = reading.front
        _ = (record?.key.count, record?.isWhole, record?.largeValue, record?.valueSize)
      }
      if let record = RecordBytes.read(bytes).record {
        sealedCount += 1
        if case .value(let value) = record.content { #expect(value.count < bytes.count) }
      }
    }

    #expect(sealedCount > 100)
  }

  @Test(arguments: 0..<4)
  func `no bytes make the reading of a checkpoint trap`(seed: Int) {
    var random = SeededNumbers(seed)
    var checkpoint = Checkpoint(
      position: LogPosition(segment: 1, offset: 500), isSynced: false)
    for number in 0..<5 {
      let location = RecordLocation(
        segment: 1, offset: UInt32(number * 100), size: 100, expiry: .max)
      let file = FileValue(number: UInt64(number), length: 70_000, checksum: 0)
      checkpoint.entries.append(
        DiskIndex.Entry(
          hash: KeyHash(of: "\(number)"), location: location,
          largeValue: number.isMultiple(of: 2) ? nil : file, revision: .none))
    }
    var goodCount = 0

    for _ in 0..<Effort.rounds(10_000, few: 2_000) {
      var bytes = checkpoint.bytes
      for _ in 0...random.next(3) { Self.mutate(&bytes, &random) }
      if random.next(4) > 0 { CheckpointBytes.seal(&bytes) }
      guard let found = CheckpointBytes.read(bytes) else { continue }
      goodCount += 1
      #expect(found.entries.count <= bytes.count / DiskLimits.indexSize)
    }

    #expect(goodCount > 100)
  }

  @Test(arguments: 0..<4)
  func `no bytes make the reading of a segment trap, or go on for ever`(seed: Int) throws {
    var random = SeededNumbers(seed)
    let scene = DiskScene()
    try scene.makeFolder()
    let url = scene.url("segment")

    for _ in 0..<Effort.rounds(200, few: 60) {
      var bytes: [UInt8] = []
      for number in 0..<8 {
        var record = RecordBytes.make(key: "\(number)")
        if random.next(3) == 0 { Self.mutate(&record, &random) }
        if random.next(3) == 0 { RecordBytes.seal(&record) }
        bytes += record
      }
      try Data(bytes).write(to: url)
      let segment = Segment(7, try FileSystem().open(url.path, .reading))
      let reader = try SegmentReader(segment, from: random.next(40), to: bytes.count)
      var (steps, last) = (0, -1)
      while let step = try reader.next() {
        steps += 1
        switch step {
        case .damage(let offset): #expect(offset > last)
        case .otherVersion(let version): #expect(version != RecordHead.version)
        case .record(let offset, let record):
          #expect(offset > last && record.bytes.count == record.head.recordSize)
        }
        last = reader.offset - 1
      }
      #expect(steps < bytes.count && reader.offset == bytes.count)
    }
  }

  /// A folder of changed files: it can be used, and no value is there that was never written.
  @Test(arguments: 0..<Effort.rounds(40, few: 12))
  func `a folder of which any file was changed opens, and has no wrong value`(seed: Int)
    async throws
  {
    var random = SeededNumbers(seed)
    let scene = DiskScene()
    var written: [String: [Data]] = [:]
    let use: (DiskCache) -> Void = { cache in
      for number in 0..<30 {
        let (key, count) = ("\(number % 12)", number % 9 == 0 ? 66_000 : number * 20)
        let value = TortureRecord.value(key, number, count)
        written[key, default: []].append(value)
        if number == 20 { cache.remove("3") }
        cache.set(value, for: key)
      }
    }
    if seed % 2 == 0 { try await scene.fill(300_000, use) }
    try await scene.fillAndDie(300_000, use)

    var isForged = false
    for _ in 0..<4 {
      if try Self.change(scene, &random) { isForged = true }
      let calls = FaultyCalls()
      let cache = scene.open(300_000, calls)
      for (key, values) in written {
        if let found = try await cache.get(key).valueIfAny {
          // A forged value is believed.
          #expect(isForged || values.contains(found) || found == Data("new"))
        }
      }
      for key in ["3", "another"] {
        try await cache.set(Data("new"), for: key).value
        #expect(try await cache.get(key).value == Data("new"))
      }
      if random.next(2) == 0 { calls.die() }
      try await cache.close().value
    }
  }

  /// Changes a file; returns whether that made a good record of a bad one.
  private static func change(_ scene: DiskScene, _ random: inout SeededNumbers) throws -> Bool {
    let names = scene.names
    let name = names[random.next(names.count)]
    var bytes = [UInt8](try Data(contentsOf: scene.url(name)))
    var isForged = false
    if case .segment(let number) = FileName(name), random.next(3) > 0 {
      isForged = true
      reseal(&bytes, segment: UInt32(number), &random)
    } else {
      for _ in 0...random.next(3) { mutate(&bytes, &random) }
      if name == FileName.indexName, random.next(4) > 0 { CheckpointBytes.seal(&bytes) }
    }
    try Data(bytes).write(to: scene.url(name))
    return isForged
  }

  /// Changes the front of a record, but for its key and its value, and makes its checks right.
  private static func reseal(
    _ bytes: inout [UInt8], segment: UInt32, _ random: inout SeededNumbers
  ) {
    let starts = bytes.indices.dropLast(RecordHead.size).filter { place in
      bytes[place] == 0x4D && bytes[place + 1] == 0x50 && bytes[place + 2] == 0x6E
        && bytes[place + 3] == 0x64
    }
    guard !starts.isEmpty else { return }
    let start = starts[random.next(starts.count)]
    let end = starts.first { $0 > start } ?? bytes.count
    var record = Array(bytes[start..<end])
    let numbers: [UInt64] = [0, 1, 4, UInt64(UInt32.max), 1 << 31, 70_000, random.bits()]
    // Kind, flags, schema; the lengths; the times.
    let offset = 4 + 4 * random.next(10)
    RecordBytes.put(numbers[random.next(numbers.count)], 4, &record, offset)
    if offset == 4 { record[4] = RecordHead.version }
    RecordBytes.seal(&record, segment: segment)
    bytes.replaceSubrange(start..<end, with: record)
  }
}
