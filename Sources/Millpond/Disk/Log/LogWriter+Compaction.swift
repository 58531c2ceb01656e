import Foundation

extension LogWriter {
  private static let stepSize = 262_144

  /// Writes a part of the oldest segment anew, as far as it is needed, if that is worth it; the whole
  /// of it done, the segment goes.
  ///
  /// - Returns: Whether there was something to do.
  func compact() -> Bool {
    guard folder.isHeld, !parts.isEmpty, isWorthIt else {
      copied = nil
      return false
    }
    if parts.count == 1 {
      guard parts[0].size > 0 else { return false }
      isLastOpen = false
      return (try? openSegment()) != nil
    }
    do {
      try compactStep(parts[0])
      return true
    } catch {
      // Later, when something has been written, it is tried again.
      copied = nil
      return false
    }
  }

  /// Makes room for so much more, as far as that can be.
  func makeRoom(for count: Int) {
    while logBytes + otherBytes + count > limits.byteLimit { if !compact() { return } }
  }

  /// The bytes beside the log: large values, and the checkpoint, also the next one.
  private var otherBytes: Int {
    state.withLock { state in
      state.index.largeBytes + SyncMark.size
        + max(indexBytes, Checkpoint.headSize + state.index.count * DiskLimits.indexSize)
    }
  }

  private var isWorthIt: Bool {
    limits.isWorthCompacting(
      logBytes: logBytes, liveBytes: state.withLock { $0.index.liveBytes }, otherBytes: otherBytes)
  }

  func compactStep(_ oldest: LogContents.Part) throws {
    let reader = try copied ?? SegmentReader(oldest.segment, from: 0, to: oldest.size)
    copied = reader
    let part = try openSegment()
    let buffer = RecordBuffer()
    var moves: [(KeyHash, Spot, Spot)] = []
    let start = reader.offset
    while reader.offset - start < Self.stepSize {
      guard let step = try reader.next() else {
        try copy(buffer, moves, to: part)
        return try removeOldest()
      }
      guard case .record(let offset, let record) = step else {
        isOldestDamaged = true
        continue
      }
      guard record.head.kind == .value || record.head.kind == .file else { continue }
      let (hash, old) = (KeyHash(record.key), record.spot(segment: oldest.segment.number, offset))
      guard state.withLock({ $0.index.holds(hash, at: old) }) else { continue }
      guard record.isWhole else {
        isOldestDamaged = true
        continue
      }
      var new = old
      new.segment = part.segment.number
      new.offset = UInt32(part.size + buffer.count)
      buffer.append(record.bytes, record.head, segment: part.segment.number)
      moves.append((hash, old, new))
    }
    try copy(buffer, moves, to: part)
  }

  private func copy(
    _ buffer: RecordBuffer, _ moves: [(KeyHash, Spot, Spot)], to part: LogContents.Part
  ) throws {
    if moves.isEmpty { return }
    do {
      try append(buffer.bytes, to: part)
    } catch {
      copied = nil
      throw error
    }
    state.withLock { state in
      for (hash, old, new) in moves { state.index.move(hash, from: old, to: new) }
      state.index.statistics.bytesCopied += buffer.count
    }
  }

  func removeOldest() throws {
    let oldest = parts[0]
    copied = nil
    try synchronizeIfRelied()
    try folder.files.remove(oldest.segment.file.path)
    parts.removeFirst()
    logBytes -= oldest.size
    let isDamaged = isOldestDamaged
    isOldestDamaged = false
    let files = state.withLock { state in
      state.segments.removeOldest()
      state.noteRemoved(oldest.segment)
      // What could not be made out is lost: nothing may point to where it was.
      return isDamaged ? state.index.forget(segment: oldest.segment.number) : []
    }
    remove(files)
  }
}

extension LogWriter {
  /// Begins a segment of its own for a removal of everything, so that all before it can go.
  ///
  /// - Returns: The segment, which is empty.
  func openErasingSegment() throws -> LogContents.Part {
    if let last = parts.last, last.size > 0 { isLastOpen = false }
    let part = try openSegment()
    erasedBefore = max(erasedBefore, part.segment.number)
    return part
  }

  /// Whether segments are left from before the last removal of everything.
  var isErasing: Bool { parts.first.map { $0.segment.number < erasedBefore } ?? false }

  /// Removes every byte from before the last removal of everything: segments, and files that no entry
  /// needs.
  ///
  /// The removal is on the device before anything goes, and what went has gone from there at the end: a
  /// power cut brings nothing back either.
  ///
  /// - Parameter held: Returns the files that are lent, or being written.
  func erase(sparing held: () -> Set<UInt64>) throws {
    guard folder.isHeld, !folder.isLost else { throw POSIX.failure(.EBADF, folder.path) }
    if let last = parts.last { try last.segment.file.synchronize() }
    while isErasing, let oldest = parts.first {
      // What was written later, but not behind the removal, is written again.
      // There are few entries right after a removal of everything.
      let isNeeded = state.withLock { !$0.index.slots(in: oldest.segment.number).isEmpty }
      if isNeeded { try compactStep(oldest) } else { try removeOldest() }
    }
    try sweep(sparing: held)
    try folder.synchronize()
  }

  /// Removes the files of values that nobody needs, and those of which nobody knows.
  private func sweep(sparing held: () -> Set<UInt64>) throws {
    let present = Set(parts.map { UInt64($0.segment.number) })
    let names = try folder.fileNames()
    // In this order: a stream that began meanwhile has its file among the names only if it is held, and
    // is let go of only when its value is in the index.
    let needed = held().union(state.withLock { $0.index.files })
    for name in names {
      switch name {
      case .value(let number) where !needed.contains(number),
        .unfinished(let number) where !needed.contains(number),
        .segment(let number) where number < UInt64(erasedBefore) && !present.contains(number):
        try folder.remove(name)
      case .value, .unfinished, .segment, .index, .syncMark: break
      }
    }
  }
}

extension DiskIndex {
  /// The files that entries have, or that are lent.
  fileprivate var files: Set<UInt64> {
    var files = Set(largeValues.values.map(\.number)).union(leases.keys)
    for write in pending { if let file = write?.file { files.insert(file.number) } }
    return files
  }
}
