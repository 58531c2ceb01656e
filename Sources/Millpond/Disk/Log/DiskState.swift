import MillpondCore
import MillpondSignals

/// The state under the lock of a store.
struct DiskState: Sendable {
  var index: DiskIndex
  var segments = SegmentTable()
  var queue = WriteQueue()

  /// Whether a flush to the device was made: then nothing is removed there before its replacement
  /// is there too.
  var isKeptOnDevice = false

  /// The parts that have been written, but may not be on the device yet.
  private var unsynchronized = Unsynchronized()

  init(_ index: DiskIndex) {
    self.index = index
  }

  /// Takes over the contents of the folder, in which an earlier run may have left parts that are
  /// not on the device.
  mutating func take(_ index: DiskIndex, _ contents: LogContents) {
    self.index = index
    isKeptOnDevice = contents.synced != nil
    let synced = contents.synced ?? .start
    for part in contents.parts {
      segments.append(part.segment)
      if part.end > synced { unsynchronized.segments[part.segment.number] = part.segment }
    }
    if let last = contents.parts.last { unsynchronized.end = max(last.end, contents.reached) }
    for (slot, value) in index.largeValues where index.locations[slot].position >= synced {
      unsynchronized.files.insert(value.number)
    }
  }
}

// MARK: - The queue

/// The writes that wait for the writer, in order, and the tasks between them.
struct WriteQueue: Sendable {
  /// The next work of the writer.
  enum Work: Sendable {
    case writes([DiskWrite])
    case task(@Sendable () -> Void)
  }

  private enum Item: Sendable {
    case write(DiskWrite)
    case task(@Sendable () -> Void)
  }

  private var items = PagedQueue<Item>()

  private(set) var waitingBytes = 0

  /// Whether the writer is working, or has been woken.
  private(set) var isWriting = false

  /// Adds a write at the end, and marks the writes that it makes unnecessary.
  ///
  /// Values that are no longer to be written are released: all that wait are in the index, and so
  /// never exceed the cache's limit.
  ///
  /// - Returns: Whether the writer has to be woken, and the released values, to be freed after the
  ///   unlock.
  mutating func append(
    _ write: DiskWrite, _ consequence: DiskIndex.Consequence = DiskIndex.Consequence()
  ) -> (wakes: Bool, dropped: [DiskWrite.Content]) {
    waitingBytes += write.waitingBytes
    var dropped = drop(consequence.evicted)
    if write.isVoid { drop(write, &dropped) }
    if let old = consequence.superseded, !old.isTaken {
      old.isSuperseded = true
      drop(old, &dropped)
      write.superseded = old.superseded
      old.superseded = []
      write.superseded.append(old)
    }
    items.append(.write(write))
    return (wake(), dropped)
  }

  /// Marks writes whose entries are gone; returns their values, to be released after the unlock.
  mutating func drop(_ evicted: [DiskWrite]) -> [DiskWrite.Content] {
    var dropped: [DiskWrite.Content] = []
    for write in evicted where !write.isTaken {
      write.isVoid = true
      drop(write, &dropped)
    }
    return dropped
  }

  private mutating func drop(_ write: DiskWrite, _ dropped: inout [DiskWrite.Content]) {
    guard let (bytes, content) = write.dropValue() else { return }
    waitingBytes -= bytes
    dropped.append(content)
  }

  /// Adds a task at the end; true if the writer has to be woken.
  mutating func append(_ task: @escaping @Sendable () -> Void) -> Bool {
    items.append(.task(task))
    return wake()
  }

  private mutating func wake() -> Bool { !exchange(&isWriting, with: true) }

  /// The greatest number of writes that are taken, and settled, under one hold of the lock.
  static let stepSize = 1_024

  /// Takes the next task, or the next writes of up to `limit` bytes together; nil if nothing waits,
  /// or if a step has found only writes that later ones replace.
  mutating func take(limit: Int) -> Work? {
    var writes: [DiskWrite] = []
    var (bytes, left) = (0, Self.stepSize)
    while bytes < limit, left > 0, let next = items.first {
      left -= 1
      guard case .write(let write) = next else {
        if writes.isEmpty, case .task(let task) = items.popFirst() { return .task(task) }
        break
      }
      _ = items.popFirst()
      waitingBytes -= write.waitingBytes
      if write.isSuperseded { continue }
      write.isTaken = true
      writes.append(write)
      bytes += write.waitingBytes + RecordHead.size
    }
    return writes.isEmpty ? nil : .writes(writes)
  }

  /// Records that the writer rests; false if there is work.
  mutating func rest() -> Bool {
    isWriting = !items.isEmpty
    return !isWriting
  }
}

// MARK: - The parts that are not on the device yet

/// The parts of the folder that may not be on the device yet.
struct Unsynchronized: Sendable {
  var segments: [UInt32: Segment] = [:]
  var files: Set<UInt64> = []

  /// The end of the log: once the other parts are on the device, it is there up to this position.
  var end: LogPosition?
}

extension DiskState {
  mutating func noteWritten(_ count: Int, to part: LogContents.Part) {
    unsynchronized.segments[part.segment.number] = part.segment
    unsynchronized.end = part.end
    index.statistics.bytesWritten += count
  }

  mutating func noteWritten(_ file: FileValue) {
    unsynchronized.files.insert(file.number)
    index.statistics.bytesWritten += file.count
  }

  mutating func noteRemoved(_ segment: Segment) { unsynchronized.segments[segment.number] = nil }

  mutating func noteRemoved(_ files: [UInt64]) { unsynchronized.files.subtract(files) }

  mutating func takeUnsynchronized() -> Unsynchronized {
    exchange(&unsynchronized, with: Unsynchronized(end: unsynchronized.end))
  }

  mutating func putBack(_ taken: Unsynchronized) {
    unsynchronized.segments.merge(taken.segments) { present, _ in present }
    unsynchronized.files.formUnion(taken.files)
  }

  /// Forgets the log, since the folder is a different one.
  mutating func forgetLog() -> (SegmentTable, Unsynchronized) {
    (exchange(&segments, with: SegmentTable()), exchange(&unsynchronized, with: Unsynchronized()))
  }
}
