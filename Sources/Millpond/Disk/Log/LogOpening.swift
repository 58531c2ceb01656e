import Foundation

/// The opening of a folder, which reads the checkpoint and then the rest of the log.
///
/// Blocks; must come before any other use of the folder.
struct LogOpening {
  let folder: Folder
  private var segmentNumbers: [UInt32] = []
  private var valueFiles: Set<UInt64> = []
  private var hasSyncMark = false

  /// The files that are lent, which are not removed.
  private let leasedFiles: Set<UInt64>

  init(_ folder: Folder, leasedFiles: Set<UInt64> = []) {
    self.folder = folder
    self.leasedFiles = leasedFiles
  }

  /// Fills `index`, and removes unfinished files.
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
      guard let end = try scan(segment, from: min(from, size), to: size, &index, &contents) else {
        contents.outdatedFiles += 1
        try? folder.remove(.segment(UInt64(number)))
        continue
      }
      contents.uncheckedBytes += end - min(from, size)
      let part = LogContents.Part(segment: segment, size: end)
      contents.parts.append(part)
      // After a power cut the log may end before the checkpoint's position; records written before
      // that position would be skipped at the next opening.
      contents.canContinue = isWritable && part.end >= contents.reached
    }
    cutTail(&contents)
    let needed = index.finishLoading(files: valueFiles)
    contents.needlessFiles = Array(valueFiles.subtracting(needed).subtracting(leasedFiles))
    return contents
  }

  private mutating func look() throws {
    for name in try folder.fileNames() {
      switch name {
      case .segment(let number) where number < UInt64(UInt32.max):
        segmentNumbers.append(UInt32(number))
      case .value(let number): valueFiles.insert(number)
      case .unfinished(let number) where leasedFiles.contains(number),
        .link(let number, _) where leasedFiles.contains(number):
        break
      case .unfinished, .link: try? folder.remove(name)
      case .syncMark: hasSyncMark = true
      case .segment, .index: break
      }
    }
    segmentNumbers.sort()
  }

  /// Returns the position up to which the log is on the device; nil if no flush to the device was
  /// made.
  private func readSyncMark() throws -> LogPosition? {
    guard hasSyncMark else { return nil }
    guard let (file, _) = try folder.openRegular(.syncMark, .reading),
      let bytes = try file.bytes(SyncMark.size, at: 0)
    else { return .start }
    return SyncMark.position(bytes.bytes) ?? .start
  }

  /// Loads the checkpoint, if there is a valid one.
  ///
  /// - Returns: Its position in the log.
  private func loadCheckpoint(
    into index: inout DiskIndex, _ contents: inout LogContents
  ) throws -> LogPosition? {
    guard let (file, size) = try folder.openRegular(.index, .reading) else { return nil }
    contents.indexBytes = size
    // A sparse file may have any size, so no more is allocated than its head states.
    guard let head = try file.bytes(Checkpoint.headSize, at: 0),
      Checkpoint.size(head.bytes) == size, let bytes = try file.bytes(size, at: 0),
      let checkpoint = Checkpoint(bytes.bytes)
    else { return nil }
    let position = checkpoint.position
    if !checkpoint.isSynced, let synced = contents.synced, position > synced {
      // After a power cut it may contain lost records; nor may it be trusted once the log is as
      // long again.
      try? folder.remove(.index)
      return nil
    }
    let present = Set(segmentNumbers)
    index.reserve(checkpoint.entries.count)
    for entry in checkpoint.entries
    where present.contains(entry.location.segment) && entry.location.size >= RecordHead.size
      && (entry.largeValue?.length ?? 0) <= FileValue.greatestLength
    {
      // The checksum of a large value is in its record, which is read first.
      index.restore(entry.hash, entry.location, entry.largeValue)
    }
    index.findRestored()
    if checkpoint.isSynced { contents.synced = max(position, contents.synced ?? .start) }
    return position
  }

  /// Loads the records from `start` to `end`.
  ///
  /// - Returns: The end of the last record that counts; nil if the segment is of an older version of
  ///   the format.
  /// - Throws: ``DiskError/newerFormat(folder:version:supported:)``.
  private func scan(
    _ segment: Segment, from start: Int, to end: Int, _ index: inout DiskIndex,
    _ contents: inout LogContents
  ) throws -> Int? {
    guard start < end else { return end }
    let reader = try SegmentReader(segment, from: start, to: end)
    var (lastEnd, group) = (start, RecordGroup())
    while let step = try reader.next() {
      switch step {
      case .damage:
        contents.damagedRecords += 1
        group.breakOff()
      case .otherVersion(let version):
        if version > RecordHead.version {
          throw DiskError.newerFormat(
            folder: folder.path, version: Int(version), supported: Int(RecordHead.version))
        }
        if lastEnd == 0 { return nil }
        contents.damagedRecords += 1
        group.breakOff()
      case .record(let offset, let record):
        let found = try check(record, segment, offset, contents.synced)
        if found.state != .good { contents.damagedRecords += 1 }
        if group.isEmpty, !record.head.isOfGroup {
          load(found, segment, &index, &contents)
        } else {
          for found in group.add(found, record.head, synced: contents.synced) {
            load(found, segment, &index, &contents)
          }
        }
        if group.isEmpty { lastEnd = offset + record.head.recordSize }
      }
    }
    // A group without its last record was not written as a whole, so none of it counts.
    return lastEnd
  }

  /// Checks a record as far as that is necessary.
  private func check(
    _ record: Record, _ segment: Segment, _ offset: Int, _ synced: LogPosition?
  ) throws -> FoundRecord {
    let (head, large) = (record.head, record.largeValue)
    var found = FoundRecord(
      hash: KeyHash(record.key), location: record.location(segment: segment.number, offset))
    switch head.kind {
    case .removal: found.effect = .unload
    case .removalOfAll: found.effect = .unloadAll(sparing: record.survivors)
    case .value, .file:
      found.effect = .load(large)
      // Other payloads are checked when they are read.
      let isChecked = head.kind == .file || head.isOfGroup
      if isChecked && !record.isWhole || head.kind == .file && large == nil {
        found.state = .damaged
      }
    case .void: break
    }
    if let synced, found.location.position >= synced, try !isWholeWithFile(record) {
      let isMissing = large.map { !valueFiles.contains($0.number) } ?? false
      found.state = record.isWhole && isMissing ? .lost : .torn
    }
    return found
  }

  /// Loads what was found.
  private func load(
    _ found: FoundRecord, _ segment: Segment, _ index: inout DiskIndex,
    _ contents: inout LogContents
  ) {
    switch (found.state, found.effect) {
    case (.torn, _), (.lost, _): void(found, segment)
    case (.damaged, .load), (_, .unload): index.unload(found.hash)
    case (.good, .load(let large)): index.load(found.hash, found.location, large)
    case (_, .unloadAll(let survivors)):
      index.unloadAll(sparing: survivors)
      contents.erasedBefore = segment.number
    case (_, .nothing): break
    }
  }

  /// Whether a record that a power cut may have torn is undamaged, with its file.
  private func isWholeWithFile(_ record: Record) throws -> Bool {
    if record.head.kind == .void { return true }
    guard record.isWhole else { return false }
    guard record.head.kind == .file else { return true }
    guard let value = record.largeValue, valueFiles.contains(value.number) else { return false }
    return try folder.isWhole(value)
  }

  /// Marks a torn record as void, so that later openings skip it too: by then it is before the
  /// position up to which records are trusted.
  private func void(_ found: FoundRecord, _ segment: Segment) {
    let (offset, count) = (Int(found.location.offset), Int(found.location.size))
    guard var copy = try? segment.file.read(count, at: offset) else { return }
    copy.withUnsafeMutableBytes { bytes in
      guard var head = RecordHead(parsing: UnsafeRawBufferPointer(bytes)) else { return }
      // It stays in its group, of which others may count.
      head.kind = .void
      head.seal(bytes, segment: UInt64(segment.number))
    }
    try? segment.file.write(copy.prefix(RecordHead.size), at: offset)
  }

  /// Truncates a torn end, so that the next record does not follow it.
  private func cutTail(_ contents: inout LogContents) {
    guard contents.canContinue, let last = contents.parts.last else { return }
    do {
      if try last.segment.file.status().size > last.size {
        try last.segment.file.truncate(to: last.size)
      }
    } catch {
      // A record that is written over a part of the end might leave the rest of a group.
      contents.canContinue = false
    }
  }

  /// Returns the segment, its size, and whether it is writable; nil if it is not a regular file.
  private func openSegment(_ number: UInt32) throws -> (Segment, Int, Bool)? {
    let name = FileName.segment(UInt64(number))
    var isWritable = true
    var found: (file: OpenFile, size: Int)?
    do {
      found = try folder.openRegular(name, .updating)
    } catch let error as POSIXError where error.isRefusalToWrite {
      isWritable = false
      found = try folder.openRegular(name, .reading)
    }
    guard let (file, size) = found else { return nil }
    return (Segment(number, file), min(size, Int(UInt32.max)), isWritable)
  }
}
