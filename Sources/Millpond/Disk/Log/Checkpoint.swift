import MillpondCore

/// A copy of the index as of a position in the log, in the order of eviction; at the next opening
/// it saves reading the log up to that position.
///
///     0   magic      4   "MPck"
///     4   version    4   of the format, ``RecordHead/version``
///     8   segment    4   position in the log
///     12  offset     4
///     16  synced     8   1 if the log was on the device up to there when it was written
///     24  bytes      8   of the whole file
///     32  the entries: hash 8, location 16; if the highest bit of the record's size is set, also the
///         number of the value's file 8, and its length 8
///     end checksum   8   of all of that
///
/// All numbers are little-endian.
///
/// A synchronized checkpoint is on the device before it replaces the former one. Any other is
/// trusted until a flush to the device, and from then on only if the log is known to be on the
/// device up to its position.
///
/// It earns its place by its size: that of 200,000 values of 1 KiB has 5 MB, and their log 220. It
/// also keeps the order of eviction, which the log does not have.
struct Checkpoint {
  static let headSize = 32
  private static let magic: UInt32 = 0x6B63_504D
  private static let version = UInt32(RecordHead.version)
  private static let sumSize = 8

  /// The size without entries.
  static let emptySize = headSize + sumSize
  private static let hasFile: UInt32 = 1 << 31

  let position: LogPosition
  let isSynced: Bool

  /// The entries; the checksum of a large value is only in its record.
  var entries: ContiguousArray<DiskIndex.Entry> = []
}

extension Checkpoint {
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.emptySize + entries.count * DiskLimits.indexSize)
    for number in [Self.magic, Self.version, position.segment, position.offset] {
      bytes.append(number: number)
    }
    bytes.append(number: UInt64(isSynced ? 1 : 0))
    let fileCount = entries.count { $0.largeValue != nil }
    bytes.append(
      number: UInt64(
        Self.emptySize + entries.count * DiskLimits.indexSize + fileCount * 16))
    for entry in entries {
      bytes.append(number: entry.hash.value)
      bytes.append(number: entry.location.segment)
      bytes.append(number: entry.location.offset)
      bytes.append(number: entry.location.size | (entry.largeValue == nil ? 0 : Self.hasFile))
      bytes.append(number: entry.location.expiry)
      if let file = entry.largeValue {
        bytes.append(number: file.number)
        bytes.append(number: file.length)
      }
    }
    bytes.append(number: bytes.withUnsafeBytes { FoldHash.hash($0, seed: 4) })
    return bytes
  }

  /// Parses a file; nil if it is damaged.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let end = bytes.count - Self.sumSize
    guard Self.size(bytes) == bytes.count,
      bytes.number(end, UInt64.self)
        == FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<end]), seed: 4)
    else { return nil }
    position = LogPosition(
      segment: bytes.number(8, UInt32.self), offset: bytes.number(12, UInt32.self))
    isSynced = bytes.number(16, UInt64.self) == 1
    entries.reserveCapacity(bytes.count / DiskLimits.indexSize)
    var place = Self.headSize
    while place < end {
      guard end - place >= DiskLimits.indexSize else { return nil }
      let size = bytes.number(place + 16, UInt32.self)
      let location = RecordLocation(
        segment: bytes.number(place + 8, UInt32.self),
        offset: bytes.number(place + 12, UInt32.self), size: size & ~Self.hasFile,
        expiry: bytes.number(place + 20, UInt32.self))
      let hash = KeyHash(value: bytes.number(place, UInt64.self))
      place += DiskLimits.indexSize
      var file: FileValue?
      if size & Self.hasFile != 0 {
        guard end - place >= 16 else { return nil }
        file = FileValue(
          number: bytes.number(place, UInt64.self), length: bytes.number(place + 8, UInt64.self),
          checksum: 0)
        place += 16
      }
      entries.append(
        DiskIndex.Entry(hash: hash, location: location, largeValue: file, revision: .none))
    }
  }

  /// Returns the size of a file with this head; nil if it can't be a checkpoint.
  static func size(_ head: UnsafeRawBufferPointer) -> Int? {
    guard head.count >= headSize, head.number(0, UInt32.self) == magic,
      head.number(4, UInt32.self) == version, head.number(8, UInt32.self) < .max
    else { return nil }
    return Int(exactly: head.number(24, UInt64.self)).flatMap {
      $0 >= emptySize ? $0 : nil
    }
  }
}

extension LogWriter {
  /// Writes a checkpoint if much has been written since the last one.
  ///
  /// - Returns: Whether one was due and could be tried.
  func checkpointIfDue() -> Bool {
    guard uncheckedBytes > 4 << 20,
      uncheckedBytes > state.withLock({ $0.index.count }) * DiskLimits.indexSize * 4
    else { return false }
    return checkpoint()
  }

  /// Writes a checkpoint if the index has changed since the last one.
  ///
  /// A failure only costs time at the next opening.
  ///
  /// - Returns: Whether it could be tried.
  @discardableResult
  func checkpoint() -> Bool {
    let uses = state.withLock { $0.index.statistics.hits }
    guard uncheckedBytes > 0 || uses != checkedUses, folder.hold == .kept, let last = parts.last
    else { return false }
    // A checkpoint is trusted, so it must not contain anything that a power cut could remove.
    guard (try? synchronizeIfRelied()) != nil else { return false }
    let isSynced = isKeptOnDevice
    uncheckedBytes = 0
    checkedUses = uses
    // It may contain entries removed meanwhile; their removals are in the log after its position.
    let bytes = Checkpoint(
      position: last.end, isSynced: isSynced, entries: state.withLock { $0.index.entries }
    ).bytes
    let largeBytes = state.withLock { $0.index.largeBytes }
    guard logBytes + largeBytes + bytes.count + SyncMark.size <= limits.byteLimit else {
      // With a very small limit; an existing checkpoint may be from a larger one.
      try? folder.remove(.index)
      indexBytes = 0
      return true
    }
    let name = FileName.unfinished(numbers.next())
    do {
      let file = try folder.open(name, .making)
      try file.write(bytes)
      // The former one may be the only trace of a removal whose record was lost in a power cut.
      if isSynced { try file.synchronize() }
      try file.close()
      try folder.files.rename(folder.path(of: name), to: folder.path(of: .index))
      indexBytes = bytes.count
    } catch {
      discard([name])
    }
    return true
  }
}
