import MillpondCore
import MillpondSignals

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

  /// Adds a write, in the place of the one that it replaces, or else at the end.
  ///
  /// At the end, it would come behind a flush that waits for the one that it replaces.
  ///
  /// Values that are no longer to be written are released: all that wait are in the index, and so
  /// never exceed the cache's limit.
  mutating func append(_ write: DiskWrite, _ consequence: inout DiskIndex.Consequence) {
    waitingBytes += write.waitingBytes
    if !consequence.evicted.isEmpty { drop(&consequence) }
    if write.isVoid { drop(write, &consequence) }
    if let old = consequence.superseded, !old.isTaken {
      drop(old, &consequence)
      write.superseded = old.superseded
      old.superseded = []
      write.superseded.append(old)
      waitingBytes -= old.waitingBytes
      write.superseded[0].latest = write
    } else {
      items.append(.write(write))
    }
    consequence.wakesWriter = wake()
  }

  /// Adds a removal of the key of a write that failed, so that its former value in the log does not
  /// reappear.
  mutating func append(removalOf write: DiskWrite) {
    let removal = DiskWrite(key: write.key, .removal, write.times, revision: .none)
    waitingBytes += removal.waitingBytes
    items.append(.write(removal))
  }

  /// Marks the writes whose entries are gone, and drops their values.
  mutating func drop(_ consequence: inout DiskIndex.Consequence) {
    for write in consequence.evicted where !write.isTaken {
      write.isVoid = true
      drop(write, &consequence)
    }
  }

  private mutating func drop(_ write: DiskWrite, _ consequence: inout DiskIndex.Consequence) {
    guard let (bytes, content) = write.dropValue() else { return }
    waitingBytes -= bytes
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

  /// Takes the next task, or the next writes of up to `limit` bytes together; nil if nothing waits,
  /// or if a step has found only writes that were given up.
  mutating func take(limit: Int) -> Work? {
    var writes: [DiskWrite] = []
    var (bytes, left) = (0, Self.stepSize)
    while bytes < limit, left > 0, let next = items.first {
      left -= 1
      guard case .write(let first) = next else {
        if writes.isEmpty, case .task(let task) = items.popFirst() { return .task(task) }
        break
      }
      _ = items.popFirst()
      let write = exchange(&first.latest, with: nil) ?? first
      waitingBytes -= write.waitingBytes
      if write.isGivenUp { continue }
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

/// A first-in, first-out queue in pages, which moves no more than a page of elements at a time,
/// however many there are.
struct PagedQueue<Element> {
  private var front = Queue<Element>()
  private var pages = Queue<Queue<Element>>()
  private var back = Queue<Element>()

  private static var pageLength: Int { 1_024 }

  /// Whether there is no element; only then the front page is empty.
  var isEmpty: Bool { front.isEmpty }

  var first: Element? { front.first }

  mutating func append(_ element: Element) {
    if front.isEmpty { return front.append(element) }
    back.append(element)
    if back.count == Self.pageLength { pages.append(exchange(&back, with: Queue())) }
  }

  mutating func popFirst() -> Element? {
    let element = front.popFirst()
    if front.isEmpty { front = pages.popFirst() ?? exchange(&back, with: Queue()) }
    return element
  }
}

extension PagedQueue: Sendable where Element: Sendable {}
