import MillpondCore
import MillpondSignals

/// Everything under the lock of a store.
struct DiskState: Sendable {
  var index: DiskIndex
  var segments = SegmentTable()
  var queue = WriteQueue()

  /// Whether something relies on what is on the device: then nothing is removed there before what
  /// replaces it is there too.
  var isKeptOnDevice = false

  /// The parts that have been written, but may not be on the device yet.
  private var unsynchronized = Unsynchronized()

  init(_ index: DiskIndex) {
    self.index = index
  }

  /// Takes over what was found in the folder, in which an earlier run may have left something that is
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
    for (slot, value) in index.largeValues where index.spots[slot].position >= synced {
      unsynchronized.files.insert(value.number)
    }
  }
}

// MARK: - The queue

/// The writes that wait for the writer, in order, and the tasks between them.
struct WriteQueue: Sendable {
  /// The next step of the writer.
  enum Work: Sendable {
    case writes([DiskWrite])
    case task(@Sendable () -> Void)
  }

  private enum Item: Sendable {
    case write(DiskWrite)
    case task(@Sendable () -> Void)
  }

  private var items = Queue<Item>()

  private(set) var waitingBytes = 0

  /// Whether the writer is at work, or has been woken.
  private(set) var isWriting = false

  /// Puts a write at the end, and notes what it makes needless.
  ///
  /// Values that are not to be written any more are let go of: those that wait are all in the index, and
  /// so never more than the cache may hold.
  ///
  /// - Returns: Whether the writer has to be woken; and the values, to be released after the unlock.
  mutating func append(
    _ write: DiskWrite, _ consequence: DiskIndex.Consequence = DiskIndex.Consequence()
  ) -> (wakes: Bool, dropped: [DiskWrite.Content]) {
    var dropped: [DiskWrite.Content] = []
    waitingBytes += write.waitingBytes
    for evicted in consequence.evicted where !evicted.isTaken {
      evicted.isVoid = true
      drop(evicted, &dropped)
    }
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

  private mutating func drop(_ write: DiskWrite, _ dropped: inout [DiskWrite.Content]) {
    guard let (bytes, content) = write.dropValue() else { return }
    waitingBytes -= bytes
    dropped.append(content)
  }

  /// Puts a task at the end; true if the writer has to be woken.
  mutating func append(_ task: @escaping @Sendable () -> Void) -> Bool {
    items.append(.task(task))
    return wake()
  }

  private mutating func wake() -> Bool { !exchange(&isWriting, with: true) }

  /// Takes what is next: a task, or writes of up to so many bytes together; nil if nothing waits.
  mutating func take(limit: Int) -> Work? {
    var writes: [DiskWrite] = []
    var bytes = 0
    while bytes < limit, let next = items.first {
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

  /// Notes that the writer rests; false if there is something to do.
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

  /// The end of the log: when the rest is on the device, all of it is.
  var end: LogPosition?
}

extension DiskState {
  mutating func noteWritten(_ count: Int, to part: LogContents.Part) {
    unsynchronized.segments[part.segment.number] = part.segment
    unsynchronized.end = part.end
    index.statistics.bytesWritten += count
  }

  mutating func noteWritten(_ file: LargeValue) {
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

  /// Forgets the log, since the folder is another one.
  mutating func forgetLog() -> (SegmentTable, Unsynchronized) {
    (exchange(&segments, with: SegmentTable()), exchange(&unsynchronized, with: Unsynchronized()))
  }
}
