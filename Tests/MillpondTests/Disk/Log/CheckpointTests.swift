import Testing

@testable import Millpond

@Suite struct CheckpointTests {
  private let checkpoint: Checkpoint = {
    var checkpoint = Checkpoint(segment: 3, offset: 1_000, isSynced: true)
    for number in UInt32(1)...4 {
      let location = RecordLocation(
        segment: number, offset: number * 100, size: 60 + number, expiry: .max - number)
      checkpoint.entries.append((KeyHash(value: .max - UInt64(number)), location))
    }
    checkpoint.largeValues = [(1, .max, 70_000), (3, 5, 1 << 40)]
    return checkpoint
  }()

  private func read(_ bytes: [UInt8]) -> Checkpoint? {
    var found = Checkpoint(segment: 0, offset: 0)
    let isGood = bytes.withUnsafeBytes { bytes in
      Checkpoint.read(bytes, prepare: { _ in }) { hash, location, large in
        if let large {
          found.largeValues.append((found.entries.count, large.number, large.length))
        }
        found.entries.append((hash, location))
      }
    }
    guard isGood else { return nil }
    bytes.withUnsafeBytes { head in
      let end = Checkpoint.position(head)
      (found.segment, found.offset) = (end.segment, end.offset)
      found.isSynced = Checkpoint.isSynced(head)
    }
    return found
  }

  /// Makes the checksum right for the present bytes.
  private func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    CheckpointBytes.seal(&bytes)
    return bytes
  }

  @Test func `a checkpoint is read as it was written`() throws {
    let found = try #require(read(checkpoint.bytes))

    #expect(found.segment == 3 && found.offset == 1_000 && found.isSynced)
    #expect(found.entries.map(\.hash) == checkpoint.entries.map(\.hash))
    #expect(found.entries.map(\.location) == checkpoint.entries.map(\.location))
    #expect(found.largeValues.map(\.entry) == [1, 3])
    #expect(found.largeValues.map(\.number) == [.max, 5])
    #expect(found.largeValues.map(\.length) == [70_000, 1 << 40])
    #expect(sealed(checkpoint.bytes) == checkpoint.bytes)
  }

  @Test func `an empty one is one`() {
    #expect(read(Checkpoint(segment: 0, offset: 0).bytes)?.entries.isEmpty == true)
  }

  @Test func `a checkpoint that is cut anywhere, or followed by more bytes, is rejected`() {
    let bytes = checkpoint.bytes

    for count in 0..<bytes.count { #expect(read(Array(bytes.prefix(count))) == nil) }
    #expect(read(bytes + [0]) == nil)
  }

  @Test func `a checkpoint with any bit flipped is rejected`() {
    let bytes = checkpoint.bytes

    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(read(flipped) == nil)
    }
  }

  @Test(arguments: [16, 24], [UInt64.max, 1 << 63, 1 << 59, 0xAAAA_AAAA_AAAA_AAAB, 5, 0])
  func `a checkpoint with wrong counts and a right checksum is rejected`(
    offset: Int, count: UInt64
  ) {
    var bytes = checkpoint.bytes
    RecordBytes.put(count, 8, &bytes, offset)

    #expect(read(sealed(bytes)) == nil)
  }

  @Test(arguments: [0, 4, UInt64.max])
  func `a file value without an entry, or out of order, belongs to no entry`(entry: UInt64) {
    var bytes = checkpoint.bytes
    RecordBytes.put(entry, 8, &bytes, Checkpoint.headSize + 5 * DiskLimits.indexSize)

    #expect(read(sealed(bytes))?.largeValues.count == 1)
  }

  @Test(arguments: [1, RecordHead.version - 1, RecordHead.version + 1])
  func `a checkpoint of another version is rejected`(version: UInt8) {
    var bytes = checkpoint.bytes
    RecordBytes.put(UInt64(version), 4, &bytes, 4)

    #expect(read(sealed(bytes)) == nil)
  }

  @Test func `a location in an impossible segment is rejected`() {
    #expect(read(Checkpoint(segment: .max, offset: 0).bytes) == nil)
    #expect(read(Checkpoint(segment: .max - 1, offset: .max).bytes) != nil)
  }
}
