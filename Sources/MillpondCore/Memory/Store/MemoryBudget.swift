import MillpondSignals
import Synchronization

/// The limits and the present totals of all shards together.
///
/// Room is reserved before a value is stored, so that the limits are never exceeded.
@usableFromInline
final class MemoryBudget: Sendable {
  private let counts: AtomicValue<Int>
  private let costs = AtomicValue<Int>(0)
  private let countLimits: AtomicValue<Int>
  private let costLimits: AtomicValue<Int>

  @usableFromInline
  init(countLimit: Int, costLimit: Int) {
    counts = AtomicValue(0)
    countLimits = AtomicValue(Self.possible(countLimit))
    costLimits = AtomicValue(max(0, costLimit))
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

  /// Whether the totals are within the limits.
  @usableFromInline
  var isKept: Bool {
    counts.load(ordering: .sequentiallyConsistent) <= countLimit
      && costs.load(ordering: .sequentiallyConsistent) <= costLimit
  }

  /// Whether there is room for an entry at this moment.
  @usableFromInline
  func hasRoom(for cost: Int) -> Bool {
    count < countLimit && cost <= costLimit - self.cost
  }

  /// Reserves room for an entry, first from the caller's room and then from free room; reserves
  /// nothing if that is not enough.
  @usableFromInline
  func reserve(_ cost: Int, from room: inout MemorySpace) -> Bool {
    if room.count > 0, room.cost >= cost {
      room.count -= 1
      room.cost -= cost
      return true
    }
    let wanted = MemorySpace(count: max(0, 1 - room.count), cost: max(0, cost - room.cost))
    guard take(wanted) else { return false }
    room.count = max(0, room.count - 1)
    room.cost = max(0, room.cost - cost)
    return true
  }

  /// Reserves room for an entry whose cost rises.
  @usableFromInline
  func reserve(moreCost cost: Int) -> Bool {
    Self.add(cost, to: costs, limit: costLimits)
  }

  @usableFromInline
  func release(_ room: MemorySpace) {
    if room.count > 0 { counts.subtract(room.count, ordering: .relaxed) }
    if room.cost > 0 { costs.subtract(room.cost, ordering: .relaxed) }
  }

  /// Releases the rest of a caller's room.
  ///
  /// Call it under the lock under which the room was made: room held without a lock is missing to
  /// threads that find no entry to evict, and that would have to wait for it.
  @inlinable
  func takeBack(_ room: inout MemorySpace) {
    release(room)
    room = MemorySpace()
  }

  private func take(_ wanted: MemorySpace) -> Bool {
    guard Self.add(wanted.count, to: counts, limit: countLimits) else { return false }
    if Self.add(wanted.cost, to: costs, limit: costLimits) { return true }
    if wanted.count > 0 { counts.subtract(wanted.count, ordering: .relaxed) }
    return false
  }

  private static func add(
    _ amount: Int, to total: borrowing AtomicValue<Int>, limit: borrowing AtomicValue<Int>
  ) -> Bool {
    if amount == 0 { return true }
    let allowed = limit.load(ordering: .relaxed)
    var present = total.load(ordering: .relaxed)
    while present <= allowed, amount <= allowed - present {
      let (isDone, found) = total.weakCompareExchange(
        expected: present, desired: present + amount, ordering: .sequentiallyConsistent)
      if isDone {
        // Either this sees a limit that is lowered meanwhile, or the thread that lowers it sees
        // this.
        if limit.load(ordering: .sequentiallyConsistent) >= allowed { return true }
        total.subtract(amount, ordering: .sequentiallyConsistent)
        return false
      }
      present = found
    }
    return false
  }

  /// The greatest possible number of values, which is that of a cache without a limit.
  static let greatestCount = Int(Slot.max) - 1

  /// Clamps a limit: slots have 31 bits.
  private static func possible(_ countLimit: Int) -> Int {
    min(max(0, countLimit), greatestCount)
  }
}

/// Room for a number of entries and their total cost.
@usableFromInline
struct MemorySpace: Sendable {
  @usableFromInline var count = 0
  @usableFromInline var cost = 0

  @usableFromInline
  init(count: Int = 0, cost: Int = 0) {
    self.count = count
    self.cost = cost
  }
}
