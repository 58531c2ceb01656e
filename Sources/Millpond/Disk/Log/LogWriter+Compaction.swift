import Foundation

extension LogWriter {
  private static let stepSize = 262_144

  /// Copies a part of the oldest segment's needed records to the end of the log, if that is worth
  /// it; a segment that is copied completely is removed.
  ///
  /// - Returns: Whether there was something to do.
  func compact() -> Bool {
    guard !parts.isEmpty, isWorthIt, folder.isHeld else {
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
      // Tried again after the next write.
      copied = nil
      return false
    }
  }

  /// Makes room for `count` more bytes, as far as possible.
  func makeRoom(for count: Int) {
    while logBytes + usage.other + count > limits.byteLimit { if !compact() { return } }
  }

  /// The bytes of the needed records, and the bytes beside the log: large values, and the larger of
  /// the present and the next checkpoint.
  private var usage: (live: Int, other: Int) {
    state.withLock { state in
      let index = max(indexBytes, Checkpoint.emptySize + state.index.count * DiskLimits.indexSize)
      return (state.index.liveBytes, state.index.largeBytes + SyncMark.size + index)
    }
  }

  private var isWorthIt: Bool {
    let usage = usage
    return limits.isWorthCompacting(
      logBytes: logBytes, liveBytes: usage.live, otherBytes: usage.other)
  }

  func compactStep(_ oldest: LogContents.Part) throws {
    let reader = try copied ?? SegmentReader(oldest.segment, from: 0, to: oldest.size)
    copied = reader
    let part = try openSegment()
    var buffer = RecordBuffer()
    var moves: [(KeyHash, RecordLocation, RecordLocation)] = []
    let goesOn = try reader.step(Self.stepSize) { offset, record in
      guard record.head.kind == .value || record.head.kind == .file else { return }
      let (hash, old) = (
        KeyHash(record.key), record.location(segment: oldest.segment.number, offset)
      )
      // A damaged record is lost with its segment; a get that finds no segment drops the entry.
      guard state.withLock({ $0.index.holds(hash, at: old) }), record.isWhole else { return }
      var new = old
      new.segment = part.segment.number
      new.offset = UInt32(part.size + buffer.count)
      buffer.append(record.bytes, record.head, segment: part.segment.number)
      moves.append((hash, old, new))
    }
    try copy(buffer, moves, to: part)
    if !goesOn { try removeOldest() }
  }

  private func copy(
    _ buffer: RecordBuffer, _ moves: [(KeyHash, RecordLocation, RecordLocation)],
    to part: LogContents.Part
  ) throws {
    if moves.isEmpty { return }
    do {
      try append(buffer.bytes, to: part) { index in
        for (hash, old, new) in moves { index.move(hash, from: old, to: new) }
        index.statistics.bytesCopied += buffer.count
      }
    } catch {
      copied = nil
      throw error
    }
  }

  func removeOldest() throws {
    let oldest = parts[0]
    copied = nil
    try synchronizeIfRelied()
    try folder.files.remove(oldest.segment.file.path)
    parts.removeFirst()
    logBytes -= oldest.size
    unsynchronized.segments[oldest.segment.number] = nil
    state.withLock { $0.segments.removeOldest() }
  }
}
