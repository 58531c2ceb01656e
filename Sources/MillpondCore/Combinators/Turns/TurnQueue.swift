/// Those who wait for their turn: the most urgent first, then by arrival.
///
/// A heap in which an entry may be out of date: who has left, or become more urgent meanwhile, is
/// passed over when the entry comes up. Urgency is looked at again at that moment, since that of a
/// shared get may have fallen.
struct TurnQueue: Sendable {
  private var heap: [Entry] = []

  /// The urgency by which each is in the heap.
  private var waiting: [ObjectIdentifier: Priority] = [:]
  private var lastArrival = 0

  private struct Entry: Sendable {
    let waiter: TurnWaiter
    let priority: Priority

    func goes(before other: Entry) -> Bool {
      priority == other.priority ? waiter.arrival < other.waiter.arrival : priority > other.priority
    }
  }

  var isEmpty: Bool {
    waiting.isEmpty
  }

  mutating func enter(_ waiter: TurnWaiter) {
    lastArrival += 1
    waiter.arrival = lastArrival
    push(waiter, waiter.lookup.priority)
  }

  /// Brings one forward who waits, and has become more urgent.
  mutating func raise(_ waiter: TurnWaiter) {
    let priority = waiter.lookup.priority
    if let former = waiting[ObjectIdentifier(waiter)], former < priority { push(waiter, priority) }
  }

  /// Whether the one who leaves was still waiting.
  ///
  /// - Parameter gone: Takes those who have left when they are most of the heap, so that a queue
  ///   that doesn't move keeps no more of them; to be released out of the lock.
  mutating func leave(_ waiter: TurnWaiter, clearing gone: inout [TurnWaiter]) -> Bool {
    guard waiting.removeValue(forKey: ObjectIdentifier(waiter)) != nil else { return false }
    if heap.count > 2 * waiting.count + 16 { clear(into: &gone) }
    return true
  }

  private mutating func clear(into gone: inout [TurnWaiter]) {
    let all = heap
    heap = []
    for entry in all {
      if waiting[ObjectIdentifier(entry.waiter)] == entry.priority {
        append(entry)
      } else {
        gone.append(entry.waiter)
      }
    }
  }

  /// The next one, if the turn may be given to one of that urgency.
  ///
  /// - Parameter gone: Takes who is passed over, to be released out of the lock.
  mutating func popFirst(
    skipping gone: inout [TurnWaiter], if admits: (Priority) -> Bool
  ) -> TurnWaiter? {
    while let first = heap.first {
      let id = ObjectIdentifier(first.waiter)
      guard waiting[id] == first.priority else {
        gone.append(pop().waiter)
        continue
      }
      let priority = first.waiter.lookup.priority
      if priority < first.priority {
        push(pop().waiter, priority)
        continue
      }
      guard admits(priority) else { return nil }
      waiting[id] = nil
      return pop().waiter
    }
    return nil
  }

  private mutating func push(_ waiter: TurnWaiter, _ priority: Priority) {
    waiting[ObjectIdentifier(waiter)] = priority
    append(Entry(waiter: waiter, priority: priority))
  }

  private mutating func append(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0, heap[child].goes(before: heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Called only while there is a first.
  private mutating func pop() -> Entry {
    heap.swapAt(0, heap.count - 1)
    let first = heap.removeLast()
    var parent = 0
    while true {
      var next = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].goes(before: heap[next]) { next = child }
      if next == parent { return first }
      heap.swapAt(parent, next)
      parent = next
    }
  }
}
