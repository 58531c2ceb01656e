import MillpondCore
import MillpondSignals

/// The state under the lock of a store.
struct DiskState: Sendable {
  typealias Heir = @Sendable (UInt64) -> Void

  var index: DiskIndex
  var segments = SegmentTable()
  var queue = WriteQueue()

  /// Receives each file that a later store of the folder has taken over, when its last lease ends.
  var heir: Heir?

  /// The files that a later store has taken over, and that are still leased here.
  var inherited: Set<UInt64> = []

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

// MARK: - Writes

extension DiskState {
  /// Decides about a write, and adds it to the queue if it is to be written.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - compared: The number of the last removal by predicate with which it was compared.
  /// - Returns: Nil if it has to be compared again.
  mutating func admit(_ write: DiskWrite, compared: Int) -> DiskIndex.Consequence? {
    if mustCompare(write, compared) { return nil }
    var consequence = index.decide(write)
    if consequence.isToBeWritten { queue.append(write, &consequence) }
    return consequence
  }

  /// Decides about writes of a group: sets, and removals of single keys.
  ///
  /// - Parameter group: The writes, with the number of the last removal by predicate with which each
  ///   was compared; nil if one concerns it.
  /// - Returns: A decision for each, nil for those that a removal concerns; nil if they have to be
  ///   compared again.
  mutating func admit(
    _ group: [(write: DiskWrite, compared: Int?)]
  ) -> [DiskIndex.Consequence?]? {
    let isOutdated = group.contains { write, compared in
      compared.map { mustCompare(write, $0) } ?? false
    }
    if isOutdated { return nil }
    var places: [WriteQueue.Place] = []
    var consequences = group.map { write, compared -> DiskIndex.Consequence? in
      if compared == nil { return nil }
      var consequence = index.decide(write)
      if consequence.isToBeWritten { queue.append(write, to: &places, &consequence) }
      return consequence
    }
    let first = consequences.firstIndex { $0?.isToBeWritten == true }
    if queue.append(places), let first { consequences[first]?.wakesWriter = true }
    return consequences
  }

  private func mustCompare(_ write: DiskWrite, _ compared: Int) -> Bool {
    if write.isRemoval { return false }
    if let token = write.token { return index.writes.mustCompare(token, compared: compared) }
    return index.writes.mustCompare(write.revision, compared: compared)
  }
}

// MARK: - Leases

extension DiskState {
  /// Ends a lease of a file.
  ///
  /// - Returns: Whether the file is no longer needed, and what to call with it if this was its last
  ///   lease, both after the unlock.
  mutating func giveBack(_ number: UInt64) -> (isUnneeded: Bool, heir: Heir?) {
    let isUnneeded = index.giveBack(number)
    let isInherited = !index.isLeased(number) && inherited.remove(number) != nil
    return (isUnneeded, isInherited ? heir : nil)
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

  /// Forgets the log; the caller releases it after the unlock.
  mutating func forgetLog() -> (SegmentTable, Unsynchronized) {
    (exchange(&segments, with: SegmentTable()), exchange(&unsynchronized, with: Unsynchronized()))
  }
}
