import Foundation

/// A copy of the index as of a position in the log, in the order of eviction; at the next opening
/// it saves reading the log up to that position.
///
///     0   magic      4   "MPix"
///     4   version    4   of the format, ``RecordHead/version``
///     8   segment    4   position in the log
///     12  offset     4
///     16  entries    4   their number, of 24 bytes each: hash 8, location 16
///     20  synced     4   1 if the log was on the device up to there when it was written
///     24  large      8   how many, of 24 bytes each: entry 8, number 8, length 8
///     32  checksum   8   of all but these eight bytes
///     40  the entries, then the large values
///
/// All numbers are little-endian.
///
/// A synchronized checkpoint is on the device before it replaces the former one. Any other is
/// trusted until a flush to the device, and from then on only if the log is known to be on the
/// device up to its position.
struct Checkpoint {
  static let headSize = 40
  private static let magic: UInt32 = 0x7869_504D
  private static let version = UInt32(RecordHead.version)
  private static let largeSize = 24

  var segment: UInt32
  var offset: UInt32
  var isSynced = false
  var entries: [(hash: KeyHash, location: RecordLocation)] = []
  var largeValues: [(entry: Int, number: UInt64, length: UInt64)] = []
}

extension Checkpoint {
  var bytes: [UInt8] {
    var bytes = [UInt8](
      repeating: 0,
      count: Self.headSize + entries.count * DiskLimits.indexSize
        + largeValues.count * Self.largeSize)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(Self.magic, 0)
      bytes.put(Self.version, 4)
      bytes.put(segment, 8)
      bytes.put(offset, 12)
      bytes.put(UInt32(entries.count), 16)
      bytes.put(UInt32(isSynced ? 1 : 0), 20)
      bytes.put(UInt64(largeValues.count), 24)
      var place = Self.headSize
      for (hash, location) in entries {
        bytes.put(hash.value, place)
        bytes.put(location.segment, place + 8)
        bytes.put(location.offset, place + 12)
        bytes.put(location.size, place + 16)
        bytes.put(location.expiry, place + 20)
        place += DiskLimits.indexSize
      }
      for (entry, number, length) in largeValues {
        bytes.put(UInt64(entry), place)
        bytes.put(number, place + 8)
        bytes.put(length, place + 16)
        place += Self.largeSize
      }
      bytes.put(Self.sum(UnsafeRawBufferPointer(bytes)), 32)
    }
    return bytes
  }

  /// Passes every entry of an undamaged file to `take`, in order.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file.
  ///   - prepare: Receives the number of entries first.
  ///   - take: Receives an entry, and the file's number and length if it has a large value.
  /// - Returns: Whether the file is undamaged; otherwise `take` is not called.
  static func read(
    _ bytes: UnsafeRawBufferPointer, prepare: (_ count: Int) -> Void,
    _ take: (KeyHash, RecordLocation, _ large: (number: UInt64, length: UInt64)?) -> Void
  ) -> Bool {
    guard let (entryCount, largeCount) = counts(bytes), size(bytes) == bytes.count,
      bytes.number(32, UInt64.self) == sum(bytes)
    else { return false }
    prepare(entryCount)
    var large = headSize + entryCount * DiskLimits.indexSize
    let end = large + largeCount * largeSize
    var nextLarge = large < end ? bytes.number(large, UInt64.self) : .max
    for entry in 0..<entryCount {
      let place = headSize + entry * DiskLimits.indexSize
      let hash = KeyHash(value: bytes.number(place, UInt64.self))
      let location = RecordLocation(
        segment: bytes.number(place + 8, UInt32.self),
        offset: bytes.number(place + 12, UInt32.self),
        size: bytes.number(place + 16, UInt32.self),
        expiry: bytes.number(place + 20, UInt32.self))
      guard nextLarge == UInt64(entry) else {
        take(hash, location, nil)
        continue
      }
      take(
        hash, location,
        (bytes.number(large + 8, UInt64.self), bytes.number(large + 16, UInt64.self)))
      large += largeSize
      nextLarge = large < end ? bytes.number(large, UInt64.self) : .max
    }
    return true
  }

  /// Returns the position in the log of a file with this head.
  static func position(_ head: UnsafeRawBufferPointer) -> LogPosition {
    LogPosition(segment: head.number(8, UInt32.self), offset: head.number(12, UInt32.self))
  }

  /// Whether the log was on the device up to that position when a file with this head was written.
  static func isSynced(_ head: UnsafeRawBufferPointer) -> Bool { head.number(20, UInt32.self) == 1 }

  /// Returns the size of a file with this head; nil if it can't be a checkpoint.
  static func size(_ head: UnsafeRawBufferPointer) -> Int? {
    counts(head).map { headSize + $0.entries * DiskLimits.indexSize + $0.largeValues * largeSize }
  }

  /// Returns the numbers of entries and large values in a head; nil if the head is not valid.
  private static func counts(
    _ bytes: UnsafeRawBufferPointer
  ) -> (entries: Int, largeValues: Int)? {
    guard bytes.count >= headSize, bytes.number(0, UInt32.self) == magic,
      bytes.number(4, UInt32.self) == version, bytes.number(8, UInt32.self) < .max
    else { return nil }
    let (entries, largeValues) = (bytes.number(16, UInt32.self), bytes.number(24, UInt64.self))
    guard entries <= DiskIndex.greatestCount, largeValues <= entries else { return nil }
    return (Int(entries), Int(largeValues))
  }

  private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let head = FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<32]), seed: 4)
    return FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[headSize...]), seed: head)
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
    let isSynced = state.withLock { $0.isKeptOnDevice }
    guard !isSynced || (try? synchronize()) != nil else { return false }
    uncheckedBytes = 0
    checkedUses = uses
    var checkpoint = Checkpoint(
      segment: last.segment.number, offset: UInt32(last.size), isSynced: isSynced)
    // It may contain entries removed meanwhile; their removals are in the log after its position.
    let entries = state.withLock { $0.index.entries }
    checkpoint.entries.reserveCapacity(entries.count)
    for entry in entries {
      if let large = entry.largeValue {
        checkpoint.largeValues.append((checkpoint.entries.count, large.number, large.length))
      }
      checkpoint.entries.append((entry.hash, entry.location))
    }
    let bytes = checkpoint.bytes
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
