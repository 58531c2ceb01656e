import Foundation

/// Finds out what a folder holds: from the checkpoint, as far as that goes, and then from the log.
///
/// Blocks; before anything else is done with the folder.
struct LogOpening {
  let folder: Folder
  private var segmentNumbers: [UInt32] = []
  private var valueFiles: Set<UInt64> = []
  private var hasSyncMark = false

  /// Files that are lent, which are not swept.
  private let heldFiles: Set<UInt64>

  init(_ folder: Folder, heldFiles: Set<UInt64> = []) {
    self.folder = folder
    self.heldFiles = heldFiles
  }

  /// Fills `index`, and sweeps what was left unfinished.
  mutating func open(_ index: inout DiskIndex) throws -> LogContents {
    try look()
    var contents = LogContents()
    contents.synced = try readSyncMark()
    let start = try loadCheckpoint(into: &index, &contents) ?? .start
    contents.reached = max(start, contents.synced ?? .start)
    contents.lastSegment = max(contents.reached.segment, segmentNumbers.last ?? 0)
    for number in segmentNumbers {
      guard let (segment, size, isWritable) = try openSegment(number) else { continue }
      let from = number < start.segment ? size : number == start.segment ? Int(start.offset) : 0
      let end = try scan(segment, from: min(from, size), to: size, &index, &contents)
      contents.uncheckedBytes += end - min(from, size)
      let part = LogContents.Part(segment: segment, size: end)
      contents.parts.append(part)
      // After a power cut it may be shorter than the checkpoint says: what would be written to it
      // up to there would not be looked at the next time.
      contents.canContinue = isWritable && part.end >= contents.reached
    }
    cutTail(contents)
    let needed = index.finishLoading(files: valueFiles)
    contents.needlessFiles = Array(valueFiles.subtracting(needed).subtracting(heldFiles))
    return contents
  }

  private mutating func look() throws {
    for name in try folder.fileNames() {
      switch name {
      case .segment(let number) where number < UInt64(UInt32.max):
        segmentNumbers.append(UInt32(number))
      case .value(let number): valueFiles.insert(number)
      case .unfinished(let number) where heldFiles.contains(number): break
      case .unfinished: try? folder.remove(name)
      case .syncMark: hasSyncMark = true
      case .segment, .index: break
      }
    }
    segmentNumbers.sort()
  }

  /// The position up to which the log is on the device; nil if nothing relies on it.
  private func readSyncMark() throws -> LogPosition? {
    guard hasSyncMark else { return nil }
    guard let file = try openRegular(.syncMark, .reading),
      let bytes = try read(file, SyncMark.size)
    else { return .start }
    return SyncMark.position(bytes.bytes) ?? .start
  }

  /// Takes in what the checkpoint says, if there is a good one.
  ///
  /// - Returns: The position in the log that it goes up to.
  private func loadCheckpoint(
    into index: inout DiskIndex, _ contents: inout LogContents
  ) throws -> LogPosition? {
    guard let file = try openRegular(.index, .reading) else { return nil }
    let size = try file.status().size
    contents.indexBytes = size
    // A sparse file may be of any size: no more is allocated than what it says it has.
    guard let head = try read(file, Checkpoint.headSize), Checkpoint.size(head.bytes) == size,
      let bytes = try read(file, size)
    else { return nil }
    let position = Checkpoint.position(head.bytes)
    let isSynced = Checkpoint.isSynced(head.bytes)
    if !isSynced, let synced = contents.synced, position > synced {
      // After a power cut it may tell of what is not there; nor may it be believed when the log is as
      // long again.
      try? folder.remove(.index)
      return nil
    }
    let present = Set(segmentNumbers)
    var lastNumber: UInt32?
    defer { index.findRestored() }
    let isGood = Checkpoint.read(bytes.bytes, prepare: { index.reserve($0) }) { hash, spot, large in
      if spot.segment != lastNumber {
        guard present.contains(spot.segment) else { return }
        lastNumber = spot.segment
      }
      guard spot.size >= RecordHead.size, (large?.length ?? 0) <= LargeValue.greatestLength else {
        return
      }
      // The checksum of a large value is in the record, which is read first.
      index.restore(
        hash, spot, large.map { LargeValue(number: $0.number, length: $0.length, checksum: 0) })
    }
    guard isGood else { return nil }
    if isSynced { contents.synced = max(position, contents.synced ?? .start) }
    return position
  }

  private func read(_ file: OpenFile, _ count: Int) throws -> FileBytes? {
    var isWhole = false
    let bytes = try FileBytes(count: count) { isWhole = try file.read(into: $0, at: 0) }
    return isWhole ? bytes : nil
  }

  /// Takes in the records from `start` on, until `end`.
  ///
  /// - Returns: Where the last good one ends.
  private func scan(
    _ segment: Segment, from start: Int, to end: Int, _ index: inout DiskIndex,
    _ contents: inout LogContents
  ) throws -> Int {
    guard start < end else { return end }
    let reader = try SegmentReader(segment, from: start, to: end)
    var lastEnd = start
    while let step = try reader.next() {
      guard case .record(let offset, let record) = step else {
        contents.damagedRecords += 1
        continue
      }
      lastEnd = offset + record.head.recordSize
      let (hash, spot) = (KeyHash(record.key), record.spot(segment: segment.number, offset))
      if let synced = contents.synced, spot.position >= synced, try !isWholeWithFile(record) {
        contents.damagedRecords += 1
        void(record, segment, offset)
        continue
      }
      switch record.head.kind {
      case .removal: index.unload(hash)
      case .removalOfAll:
        index.unloadAll()
        contents.erasedBefore = segment.number
      case .value, .file:
        // What was written last may have been torn: what is whole there is good.
        let isChecked = record.head.kind == .file || end - lastEnd < Self.tailSize
        let large = record.largeValue
        if isChecked && !record.isWhole || record.head.kind == .file && large == nil {
          contents.damagedRecords += 1
          index.unload(hash)
        } else {
          index.load(hash, spot, large)
        }
      case .void: break
      }
    }
    return lastEnd
  }

  /// Whether a record that may have been torn by a power cut is as it was written, with its file.
  private func isWholeWithFile(_ record: Record) throws -> Bool {
    if record.head.kind == .void { return true }
    guard record.isWhole else { return false }
    guard record.head.kind == .file else { return true }
    guard let value = record.largeValue, valueFiles.contains(value.number) else { return false }
    return try folder.isWhole(value)
  }

  /// Makes a torn record one that does not count, at later openings too: by then it lies before the
  /// position up to which records are believed.
  private func void(_ record: Record, _ segment: Segment, _ offset: Int) {
    var (head, copy) = (record.head, Array(record.bytes))
    head.kind = .void
    copy.withUnsafeMutableBytes { head.seal($0, segment: UInt64(segment.number)) }
    try? segment.file.write(copy.prefix(RecordHead.size), at: offset)
  }

  /// The bytes at the end of a segment that are checked to the last one; earlier payloads are when asked
  /// for.
  private static let tailSize = 1 << 20

  /// Cuts off what was torn, so that the next record does not come after it.
  private func cutTail(_ contents: LogContents) {
    guard contents.canContinue, let last = contents.parts.last,
      let status = try? last.segment.file.status(), status.size > last.size
    else { return }
    try? last.segment.file.truncate(to: last.size)
  }

  /// The segment, its size, and whether it can be written to; nil if it is no file of ours.
  private func openSegment(_ number: UInt32) throws -> (Segment, Int, Bool)? {
    let name = FileName.segment(UInt64(number))
    var isWritable = true
    var file: OpenFile?
    do {
      file = try openRegular(name, .updating)
    } catch let error as POSIXError where error.isRefusalToWrite {
      isWritable = false
      file = try openRegular(name, .reading)
    }
    guard let file else { return nil }
    return (Segment(number, file), min(try file.status().size, Int(UInt32.max)), isWritable)
  }

  private func openRegular(_ name: FileName, _ access: FileAccess) throws -> OpenFile? {
    do {
      let file = try folder.open(name, access)
      return try file.status().isRegular ? file : nil
    } catch let error as POSIXError {
      switch error.code {
      // Not there; a link; a folder; a device or socket that can't be opened.
      case .ENOENT, .ELOOP, .EISDIR, .ENXIO, .ENODEV, .EOPNOTSUPP: return nil
      default: throw error
      }
    }
  }
}
