import Testing

@testable import Millpond
@testable import MillpondCore

@Suite struct CheckpointTests {
  private let checkpoint: Checkpoint = {
    var checkpoint = Checkpoint(
      position: LogPosition(segment: 3, offset: 1_000), isSynced: true)
    for number in UInt32(1)...4 {
      let location = RecordLocation(
        segment: number, offset: number * 100, size: 60 + number, expiry: .max - number)
      let file = FileValue(
        number: .max - UInt64(number), length: UInt64(number) << 38, checksum: 0)
      checkpoint.entries.append(
        DiskIndex.Entry(
          hash: KeyHash(value: .max - UInt64(number)), location: location,
          largeValue: number.isMultiple(of: 2) ? file : nil, revision: .none))
    }
    return checkpoint
  }()

  /// Makes the checksum right for the present bytes.
  private func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    CheckpointBytes.seal(&bytes)
    return bytes
  }

  @Test func `a checkpoint is read as it was written`() throws {
    let found = try #require(CheckpointBytes.read(checkpoint.bytes))

    #expect(found.position == checkpoint.position && found.isSynced)
    #expect(found.entries.map(\.hash) == checkpoint.entries.map(\.hash))
    #expect(found.entries.map(\.location) == checkpoint.entries.map(\.location))
    #expect(found.entries.map(\.largeValue?.number) == [nil, .max - 2, nil, .max - 4])
    #expect(found.entries.map(\.largeValue?.length) == [nil, 1 << 39, nil, 1 << 40])
    #expect(sealed(checkpoint.bytes) == checkpoint.bytes)
  }

  @Test func `an empty one is one`() {
    let empty = Checkpoint(position: .start, isSynced: false)

    #expect(CheckpointBytes.read(empty.bytes)?.entries.isEmpty == true)
    #expect(empty.bytes.count == Checkpoint.emptySize)
  }

  @Test func `a checkpoint that is cut anywhere, or followed by more bytes, is rejected`() {
    let bytes = checkpoint.bytes

    for count in 0..<bytes.count {
      #expect(CheckpointBytes.read(Array(bytes.prefix(count))) == nil)
    }
    #expect(CheckpointBytes.read(bytes + [0]) == nil)
  }

  @Test func `a checkpoint with any bit flipped is rejected`() {
    let bytes = checkpoint.bytes

    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(CheckpointBytes.read(flipped) == nil)
    }
  }

  @Test(arguments: [UInt64.max, 1 << 63, 1 << 59, 0xAAAA_AAAA_AAAA_AAAB, 5, 0])
  func `a checkpoint with a wrong size and a right checksum is rejected`(size: UInt64) {
    var bytes = checkpoint.bytes
    RecordBytes.put(size, 8, &bytes, 24)

    #expect(CheckpointBytes.read(sealed(bytes)) == nil)
  }

  @Test(arguments: [3, 4])
  func `an entry without its file, or a file without an entry, is rejected`(count: Int) {
    var checkpoint = checkpoint
    checkpoint.entries.removeLast(4 - count)
    var bytes = checkpoint.bytes
    // The highest bit of the size of the last record says whether it has a file.
    let last = bytes.count - 8 - (count == 4 ? 16 : 0) - DiskLimits.indexSize
    bytes[last + 19] ^= 128

    #expect(CheckpointBytes.read(sealed(bytes)) == nil)
  }

  @Test(arguments: [1, RecordHead.version - 1, RecordHead.version + 1])
  func `a checkpoint of another version is rejected`(version: UInt8) {
    var bytes = checkpoint.bytes
    RecordBytes.put(UInt64(version), 4, &bytes, 4)

    #expect(CheckpointBytes.read(sealed(bytes)) == nil)
  }

  @Test func `a location in an impossible segment is rejected`() {
    func read(_ position: LogPosition) -> Checkpoint? {
      CheckpointBytes.read(Checkpoint(position: position, isSynced: false).bytes)
    }

    #expect(read(LogPosition(segment: .max, offset: 0)) == nil)
    #expect(read(LogPosition(segment: .max - 1, offset: .max)) != nil)
  }
}
