import MillpondCore
import MillpondSignals

/// All that is under the lock of a store.
struct DiskState: Sendable {
  var index: DiskIndex
  var segments = SegmentTable()
  private var queue = Queue<Item>()

  /// How many bytes wait to be written.
  private(set) var waitingBytes = 0

  /// Whether the writer has something to do.
  private(set) var isWriting = false

  /// Whether somebody relies on what is on the device: then nothing goes there before what came
  /// instead of it is there too.
  var isKeptOnDevice = false

  /// What has been written, but is perhaps not on the device yet.
  private var unsynchronized = Unsynchronized()

  private enum Item: Sendable {
    case telling(Told)
    case task(@Sendable (LogWriter) -> Void)
  }

  /// What is to be done by the writer.
  enum Work: Sendable {
    case tellings([Told])
    case task(@Sendable (LogWriter) -> Void)
  }

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
      unsynchronized.end = part.end
    }
    for (slot, value) in index.largeValues where index.spots[slot].position >= synced {
      unsynchronized.files.insert(value.number)
    }
  }
}

/// The parts of the folder that may not be on the device yet.
struct Unsynchronized: Sendable {
  var segments: [UInt32: Segment] = [:]
  var files: Set<UInt64> = []

  /// The end of the log: when the rest is on the device, all of it is.
  var end: LogPosition?
}

// MARK: - The queue

extension DiskState {
  /// Puts a telling at the end, and notes what it makes needless.
  ///
  /// Values that are not to be written any more are let go of: those that wait are all in the index, and
  /// so never more than the cache may hold.
  ///
  /// - Returns: Whether the writer has to be woken; and the values, to be released after the unlock.
  mutating func append(
    _ telling: Told, _ consequence: DiskIndex.Consequence
  ) -> (wakes: Bool, dropped: [Told.Content]) {
    var dropped: [Told.Content] = []
    waitingBytes += telling.waitingBytes
    for evicted in consequence.evicted where !evicted.isTaken {
      evicted.isVoid = true
      drop(evicted, &dropped)
    }
    if telling.isVoid { drop(telling, &dropped) }
    if let old = consequence.superseded, !old.isTaken {
      old.isSuperseded = true
      drop(old, &dropped)
      telling.superseded = old.superseded
      old.superseded = []
      telling.superseded.append(old)
    }
    queue.append(.telling(telling))
    return (wake(), dropped)
  }

  private mutating func drop(_ telling: Told, _ dropped: inout [Told.Content]) {
    guard let (bytes, content) = telling.dropValue() else { return }
    waitingBytes -= bytes
    dropped.append(content)
  }

  mutating func append(_ task: @escaping @Sendable (LogWriter) -> Void) -> Bool {
    queue.append(.task(task))
    return wake()
  }

  private mutating func wake() -> Bool {
    defer { isWriting = true }
    return !isWriting
  }

  /// What is to be done next: tellings of up to so many bytes together; nil if nothing is.
  mutating func takeWork(limit: Int) -> Work? {
    var tellings: [Told] = []
    var bytes = 0
    while bytes < limit, let next = queue.first {
      guard case .telling(let telling) = next else {
        if tellings.isEmpty, case .task(let task) = queue.popFirst() { return .task(task) }
        break
      }
      _ = queue.popFirst()
      waitingBytes -= telling.waitingBytes
      if telling.isSuperseded { continue }
      telling.isTaken = true
      tellings.append(telling)
      bytes += telling.waitingBytes + RecordHead.size
    }
    return tellings.isEmpty ? nil : .tellings(tellings)
  }

  /// Notes that the writer rests; false if there is something to do.
  mutating func rest() -> Bool {
    guard queue.isEmpty else { return false }
    isWriting = false
    return true
  }
}

// MARK: - What is not on the device yet

extension DiskState {
  /// Notes that so many bytes have been written to the end of the log.
  mutating func noteWritten(_ count: Int, to part: LogContents.Part) {
    unsynchronized.segments[part.segment.number] = part.segment
    unsynchronized.end = part.end
    index.count { $0.bytesWritten += count }
  }

  mutating func noteWritten(_ file: LargeValue) {
    unsynchronized.files.insert(file.number)
    index.count { $0.bytesWritten += file.count }
  }

  /// There is nothing any more that would have to get there.
  mutating func noteRemoved(_ segment: Segment) {
    unsynchronized.segments[segment.number] = nil
  }

  mutating func noteRemoved(_ files: [UInt64]) {
    unsynchronized.files.subtract(files)
  }

  mutating func takeUnsynchronized() -> Unsynchronized {
    let taken = unsynchronized
    unsynchronized = Unsynchronized(end: taken.end)
    return taken
  }

  /// Puts back what could not be brought to the device.
  mutating func putBack(_ taken: Unsynchronized) {
    unsynchronized.segments.merge(taken.segments) { present, _ in present }
    unsynchronized.files.formUnion(taken.files)
  }

  /// The folder is another one: there is no log.
  mutating func forgetLog() -> (SegmentTable, Unsynchronized) {
    defer { (segments, unsynchronized) = (SegmentTable(), Unsynchronized()) }
    return (segments, unsynchronized)
  }
}
