import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// The writer of the log, which also reclaims the space of outdated records.
///
/// The oldest segment is always removed first; its needed records are copied to the end. So a
/// record never outlives the later ones, and a removal can go once it is in the oldest segment: no
/// older value can reappear.
///
/// Sendable because only the store's writing queue calls it.
final class LogWriter: @unchecked Sendable {
  let folder: Folder
  let limits: DiskLimits
  let state: Locked<DiskState>
  let form: DiskValueFormat
  let numbers: FileNumbers

  /// The segments, oldest first; the last one is written to if it is writable.
  var parts: [LogContents.Part] = []
  var isLastOpen = false
  var logBytes = 0
  var indexBytes = 0

  /// The reader of the oldest segment, at the position up to which it has been copied.
  var copied: SegmentReader?

  var uncheckedBytes = 0

  /// The number of hits at the last checkpoint; hits change the order of eviction.
  var checkedUses = 0
  var nextSegment: UInt32 = 1

  /// The segment with the last removal of everything; nothing before it is needed.
  var erasedBefore: UInt32 = 0

  /// Whether a flush to the device was made: then nothing is removed there before its replacement
  /// is there too.
  var isKeptOnDevice = false

  /// The segments and files that have been written, but may not be on the device yet.
  var unsynchronized = (segments: [UInt32: Segment](), files: Set<UInt64>())

  /// The position that the log certainly reached once.
  var reached = LogPosition.start

  /// Whether a position of the mark is known to be on the device.
  var isMarkOnDevice = false

  /// The files that nothing needs, and that could not be removed yet.
  var needless: [FileName] = []

  /// The records that are written next, and their writes.
  var buffer = RecordBuffer()
  private var encoded: [(DiskWrite, RecordLocation)] = []

  init(
    _ folder: Folder, _ limits: DiskLimits, _ form: DiskValueFormat, _ numbers: FileNumbers,
    _ state: Locked<DiskState>
  ) {
    self.folder = folder
    self.limits = limits
    self.form = form
    self.numbers = numbers
    self.state = state
  }

  /// Takes over the log, of which an earlier run may have left parts that are not on the device.
  func take(_ contents: LogContents) {
    parts = contents.parts
    (isKeptOnDevice, reached) = (contents.synced != nil, contents.reached)
    let synced = contents.synced ?? .start
    for part in parts where part.end > synced { noteWritten(part.segment) }
    unsynchronized.files = state.withLock { $0.index.files(from: synced) }
    isLastOpen = contents.canContinue && !parts.isEmpty
    logBytes = parts.reduce(0) { $0 + $1.size }
    nextSegment = contents.lastSegment + 1
    uncheckedBytes = contents.uncheckedBytes
    indexBytes = contents.indexBytes
    erasedBefore = contents.erasedBefore
  }

  /// Releases the log, whose folder is no longer held, or is a different one now.
  func letGo() {
    parts = []
    isLastOpen = false
    logBytes = 0
    copied = nil
    needless = []
    (unsynchronized, isMarkOnDevice) = (([:], []), false)
    let released = state.withLock { exchange(&$0.segments, with: SegmentTable()) }
    withExtendedLifetime(released) {}
  }

  func noteWritten(_ segment: Segment) { unsynchronized.segments[segment.number] = segment }
}

// MARK: - Writing

extension LogWriter {
  /// Writes records in order, and settles them in the index; a write that fails gets its error.
  func write(_ writes: [DiskWrite]) {
    write(writes) {
      for write in writes { add(write) }
      commit()
    }
  }

  /// Writes records that count together or not at all; if one can't be written, all fail.
  func write(group writes: [DiskWrite]) {
    write(writes) {
      defer { clear() }
      do {
        let part = try openSegment()
        for (place, write) in writes.enumerated() {
          encoded.append((write, try encode(write, part, place, of: writes.count)))
        }
        try appendEncoded(to: part)
      } catch {
        fail(writes, error)
      }
    }
  }

  private func write(_ writes: [DiskWrite], _ commit: () -> Void) {
    do {
      try prepare()
    } catch {
      return fail(writes, error)
    }
    makeRoom(for: writes.reduce(0) { $0 + $1.waitingBytes + RecordHead.size })
    commit()
    makeRoom(for: 0)
    removeNeedless()
  }

  /// Takes the folder again if it was lost.
  ///
  /// - Throws: The reason why the folder can't be written to.
  private func prepare() throws {
    switch folder.hold {
    case .kept: return
    case .none: throw DiskError.closed(folder: folder.path)
    case .lost: break
    }
    // It is a different folder now, without any of the files.
    state.withLock { $0.index.forgetAllLocations() }
    letGo()
    try folder.take()
  }

  /// Adds a write to the buffer, and begins a new segment first if the present one is full.
  private func add(_ write: DiskWrite) {
    do {
      var part = try openSegment()
      if part.size + buffer.count >= limits.segmentSize(logBytes: logBytes), !encoded.isEmpty {
        commit()
        part = try openSegment()
      }
      if case .removalOfAll = write.content {
        commit()
        part = try openErasingSegment()
      }
      encoded.append((write, try encode(write, part)))
    } catch {
      fail([write], error)
    }
  }

  func openSegment() throws -> LogContents.Part {
    if isLastOpen, let last = parts.last, last.size < limits.segmentSize(logBytes: logBytes) {
      return last
    }
    for _ in 0..<16 {
      guard nextSegment < .max else { throw CLibrary.failure(.EFBIG, folder.path) }
      let number = nextSegment
      nextSegment += 1
      do {
        let file = try folder.open(.segment(UInt64(number)), .making)
        let part = LogContents.Part(segment: Segment(number, file), size: 0)
        parts.append(part)
        isLastOpen = true
        state.withLock { $0.segments.append(part.segment) }
        return part
      } catch let error as POSIXError where error.code == .EEXIST {
        // Another file has that name.
        continue
      }
    }
    throw CLibrary.failure(.EEXIST, folder.path)
  }

  /// Writes the buffer at the end of the segment; after a failure, tries its records one by one.
  private func commit() {
    guard let part = parts.last, !encoded.isEmpty else { return }
    defer { clear() }
    do {
      try appendEncoded(to: part)
    } catch {
      let batch = encoded
      if batch.count == 1 { return fail([batch[0].0], error) }
      // If several records do not fit together, some of them may fit alone.
      for (write, _) in batch {
        clear()
        add(write)
        commit()
      }
    }
  }

  private func appendEncoded(to part: LogContents.Part) throws {
    remove(
      try append(buffer.bytes, to: part) { index in
        for (write, location) in encoded { index.settle(write, at: location) }
        return index.takeConsequence().files
      })
  }

  private func clear() {
    buffer.removeAll()
    encoded.removeAll(keepingCapacity: true)
  }

  /// Writes all bytes at the end of the segment, or none; then records them in the index.
  func append<Result>(
    _ bytes: [UInt8], to part: LogContents.Part,
    _ record: (inout DiskIndex) -> Result
  ) throws -> Result {
    do {
      try part.segment.file.write(bytes, at: part.size)
    } catch {
      do {
        try part.segment.file.truncate(to: part.size)
      } catch {
        // Readers skip the bytes that may be there now; nothing is written after them.
        isLastOpen = false
      }
      throw error
    }
    let longer = LogContents.Part(segment: part.segment, size: part.size + bytes.count)
    parts[parts.count - 1] = longer
    logBytes += bytes.count
    uncheckedBytes += bytes.count
    noteWritten(part.segment)
    return state.withLock { state in
      state.index.statistics.bytesWritten += bytes.count
      return record(&state.index)
    }
  }

  private func fail(_ writes: [DiskWrite], _ error: any Error) {
    let files = state.withLock { state in
      writes.flatMap { write in
        let key: String? = if case .removalOfAll = write.content { nil } else { write.key }
        write.failure = CacheError(disk: error, folder, key: key)
        let (files, leavesRecord) = state.index.fail(write)
        if leavesRecord { state.queue.append(removalOf: write) }
        return files
      }
    }
    remove(files)
  }
}
