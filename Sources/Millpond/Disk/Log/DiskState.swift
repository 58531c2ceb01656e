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

  init(_ index: DiskIndex) {
    self.index = index
  }

  /// Takes over the contents of the folder.
  mutating func take(_ index: DiskIndex, _ contents: LogContents) {
    self.index = index
    for part in contents.parts { segments.append(part.segment) }
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
