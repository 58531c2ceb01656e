import MillpondCore
import MillpondSignals

/// The writes that wait for the writer, in order, and the tasks between them.
struct WriteQueue: Sendable {
  /// The next work of the writer.
  enum Work: Sendable {
    case writes([DiskWrite])

    /// Writes that are to be on disk together, or not at all.
    case group([DiskWrite])
    case task(@Sendable () -> Void)
  }

  private enum Item: Sendable {
    case write(Place)
    case group([Place])
    case task(@Sendable () -> Void)
  }

  /// The place of a write, which a later one of the same entry may take over.
  ///
  /// Sendable because it is used only under the store's lock.
  final class Place: @unchecked Sendable {
    var write: DiskWrite

    init(_ write: DiskWrite) {
      self.write = write
      write.wait(in: self)
    }
  }

  private var items = Queue<Item>()

  private(set) var waitingBytes = 0

  /// Whether the writer is working, or has been woken.
  private(set) var isWriting = false

  /// Adds a write, in the place of the one that it replaces, or else at the end.
  ///
  /// At the end, it would come behind a flush that waits for the one that it replaces.
  ///
  /// Values that are no longer to be written are released: all that wait are in the index, and so
  /// never exceed the cache's limit.
  mutating func append(_ write: DiskWrite, _ consequence: inout DiskIndex.Consequence) {
    admit(write, &consequence)
    if let old = consequence.superseded, case .waiting(let place) = old.stage {
      drop(old, &consequence)
      waitingBytes -= old.waitingBytes
      write.replace(old, in: place)
    } else {
      items.append(.write(Place(write)))
    }
    consequence.wakesWriter = wake()
  }

  /// Adds a write to a group, which is added to the queue when it has all of them.
  ///
  /// It has a place of its own behind an earlier write of its key, which others may belong to.
  mutating func append(
    _ write: DiskWrite, to group: inout [Place], _ consequence: inout DiskIndex.Consequence
  ) {
    admit(write, &consequence)
    group.append(Place(write))
  }

  /// Adds a group at the end; true if the writer has to be woken.
  mutating func append(_ group: [Place]) -> Bool {
    if group.isEmpty { return false }
    items.append(.group(group))
    return wake()
  }

  /// Adds a removal of the key of a write that failed, so that its former value in the log does not
  /// reappear.
  mutating func append(removalOf write: DiskWrite) {
    let removal = DiskWrite(
      key: write.key, .removal, write.times, at: write.times.storedAt, revision: .none)
    waitingBytes += removal.waitingBytes
    items.append(.write(Place(removal)))
  }

  private mutating func admit(_ write: DiskWrite, _ consequence: inout DiskIndex.Consequence) {
    waitingBytes += write.waitingBytes
    if !consequence.evicted.isEmpty { drop(&consequence) }
    // A value that could not be kept.
    if !consequence.isKept { drop(write, &consequence) }
  }

  /// Drops the values of waiting writes whose entries are gone.
  mutating func drop(_ consequence: inout DiskIndex.Consequence) {
    for write in consequence.evicted where !write.isTaken { drop(write, &consequence) }
  }

  private mutating func drop(_ write: DiskWrite, _ consequence: inout DiskIndex.Consequence) {
    let bytes = write.waitingBytes
    guard let content = write.giveUpValue() else { return }
    waitingBytes += write.waitingBytes - bytes
    consequence.dropped.append(content)
  }

  /// Adds a task at the end; true if the writer has to be woken.
  mutating func append(_ task: @escaping @Sendable () -> Void) -> Bool {
    items.append(.task(task))
    return wake()
  }

  private mutating func wake() -> Bool { !exchange(&isWriting, with: true) }

  /// The greatest number of writes that are taken, and settled, under one hold of the lock.
  static let stepSize = 1_024

  /// Takes the next task, or the next writes of up to `limit` bytes together; nil if nothing waits.
  mutating func take(limit: Int) -> Work? {
    var writes: [DiskWrite] = []
    var (bytes, left) = (0, Self.stepSize)
    while bytes < limit, left > 0, let next = items.first {
      left -= 1
      guard case .write(let place) = next else { break }
      _ = items.popFirst()
      let write = take(place)
      writes.append(write)
      bytes += write.waitingBytes + RecordHead.size
    }
    if !writes.isEmpty { return .writes(writes) }
    switch items.popFirst() {
    case .group(let places): return .group(places.map { take($0) })
    case .task(let task): return .task(task)
    case .write, nil: return nil
    }
  }

  private mutating func take(_ place: Place) -> DiskWrite {
    waitingBytes -= place.write.waitingBytes
    place.write.take()
    return place.write
  }

  /// Records that the writer rests; false if there is work.
  mutating func rest() -> Bool {
    isWriting = !items.isEmpty
    return !isWriting
  }
}
