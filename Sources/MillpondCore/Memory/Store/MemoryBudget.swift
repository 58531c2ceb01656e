import Synchronization

/// How much there may be, and how much there is, of all shards together.
///
/// Room is reserved before anything is put into it, so that at no moment there is too much.
@usableFromInline
final class MemoryBudget: Sendable {
  private let counts: Atomic<Int>
  private let costs = Atomic<Int>(0)
  private let countLimits: Atomic<Int>
  private let costLimits: Atomic<Int>

  @usableFromInline
  init(countLimit: Int, costLimit: Int) {
    counts = Atomic(0)
    countLimits = Atomic(Self.possible(countLimit))
    costLimits = Atomic(max(0, costLimit))
  }

  @usableFromInline var count: Int { counts.load(ordering: .relaxed) }
  @usableFromInline var cost: Int { costs.load(ordering: .relaxed) }

  @usableFromInline
  var countLimit: Int {
    get { countLimits.load(ordering: .relaxed) }
    set { countLimits.store(Self.possible(newValue), ordering: .sequentiallyConsistent) }
  }

  @usableFromInline
  var costLimit: Int {
    get { costLimits.load(ordering: .relaxed) }
    set { costLimits.store(max(0, newValue), ordering: .sequentiallyConsistent) }
  }

  /// Whether there is no more than there may be.
  @usableFromInline
  var isKept: Bool {
    counts.load(ordering: .sequentiallyConsistent) <= countLimit
      && costs.load(ordering: .sequentiallyConsistent) <= costLimit
  }

  /// Whether there is room for an entry, at this moment.
  @usableFromInline
  func hasRoom(for cost: Int) -> Bool {
    count < countLimit && cost <= costLimit - self.cost
  }

  /// Takes room for an entry out of what the caller has already, and the rest from what is free; if
  /// that is not enough, nothing.
  @usableFromInline
  func reserve(_ cost: Int, from room: inout MemoryRoom) -> Bool {
    if room.count > 0, room.cost >= cost {
      room.count -= 1
      room.cost -= cost
      return true
    }
    let wanted = MemoryRoom(count: max(0, 1 - room.count), cost: max(0, cost - room.cost))
    guard take(wanted) else { return false }
    room.count = max(0, room.count - 1)
    room.cost = max(0, room.cost - cost)
    return true
  }

  /// Takes room for an entry to become dearer.
  @usableFromInline
  func reserve(moreCost cost: Int) -> Bool {
    Self.add(cost, to: costs, limit: costLimits)
  }

  /// Gives room back.
  @usableFromInline
  func release(_ room: MemoryRoom) {
    if room.count > 0 { counts.subtract(room.count, ordering: .relaxed) }
    if room.cost > 0 { costs.subtract(room.cost, ordering: .relaxed) }
  }

  /// Takes room back, of which nothing is left then.
  ///
  /// Under the lock under which it was made: room that is held without one is missing to those who
  /// find nobody that could go, and who then have to give up.
  @inlinable
  func takeBack(_ room: inout MemoryRoom) {
    release(room)
    room = MemoryRoom()
  }

  private func take(_ wanted: MemoryRoom) -> Bool {
    guard Self.add(wanted.count, to: counts, limit: countLimits) else { return false }
    if Self.add(wanted.cost, to: costs, limit: costLimits) { return true }
    if wanted.count > 0 { counts.subtract(wanted.count, ordering: .relaxed) }
    return false
  }

  private static func add(
    _ amount: Int, to total: borrowing Atomic<Int>, limit: borrowing Atomic<Int>
  ) -> Bool {
    if amount == 0 { return true }
    let allowed = limit.load(ordering: .relaxed)
    var present = total.load(ordering: .relaxed)
    while present <= allowed, amount <= allowed - present {
      let (isDone, found) = total.weakCompareExchange(
        expected: present, desired: present + amount, ordering: .sequentiallyConsistent)
      if isDone {
        // A limit that is lowered meanwhile is seen here, or this is seen by who lowers it.
        if limit.load(ordering: .sequentiallyConsistent) >= allowed { return true }
        total.subtract(amount, ordering: .sequentiallyConsistent)
        return false
      }
      present = found
    }
    return false
  }

  /// Slots have 31 bits.
  private static func possible(_ countLimit: Int) -> Int {
    min(max(0, countLimit), Int(Slot.max) - 1)
  }
}

/// Room for so many entries of so much cost together.
@usableFromInline
struct MemoryRoom: Sendable {
  @usableFromInline var count = 0
  @usableFromInline var cost = 0

  @usableFromInline
  init(count: Int = 0, cost: Int = 0) {
    self.count = count
    self.cost = cost
  }
}
