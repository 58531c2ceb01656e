public import MillpondSignals
public import Synchronization

/// The stores of a memory cache, each under its own lock: one while they are few, sixteen from 4,096
/// entries on.
///
/// No two locks are held at once, but for the moment in which the one is divided, when nobody can
/// hold another.
@usableFromInline
final class MemoryShards<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Store = MemoryStore<Key, Value>
  @usableFromInline typealias Move = MemoryMove<Key, Value>

  @usableFromInline let budget: MemoryBudget
  @usableFromInline let first: Locked<Store>
  @usableFromInline let others: [Locked<Store>]

  /// Which bits of a hash choose the shard: none, or all that there are. Changes once, under the
  /// lock of the first shard.
  @usableFromInline let mask = Atomic<Int>(0)

  @usableFromInline let flightTotal = FlightTotal()

  @inlinable
  init(_ budget: MemoryBudget, _ options: MemoryOptions) {
    self.budget = budget
    let count = budget.countLimit < Self.divisionCount ? 1 : Self.shardCount
    let total = flightTotal
    func shard() -> Locked<Store> {
      var store = Store(budget, options, shardCount: count)
      store.flights.total = total
      return Locked(store)
    }
    first = shard()
    others = (1..<count).map { _ in shard() }
  }

  /// Runs `body` with the store of a key.
  @inlinable
  func withStore<Result>(_ hash: MemoryHash, _ body: (inout Store) -> Result) -> Result {
    let mask = mask.load(ordering: .acquiring)
    let shard = hash.shard(mask)
    if shard > 0 { return others[shard - 1].withLock(body) }
    let result = first.withLock { store -> Result? in
      // It may have been divided before the lock was had.
      mask == 0 && self.mask.load(ordering: .relaxed) != 0 ? nil : body(&store)
    }
    return result ?? withStore(hash, body)
  }

  /// Runs `body` with one store after the other, until it says false.
  @inlinable
  func forEach(_ body: (inout Store) -> Bool) {
    let (goesOn, isDivided) = first.withLock { store in
      // Under the lock: if it is divided after that, all that the others have has been seen.
      (body(&store), mask.load(ordering: .relaxed) != 0)
    }
    guard goesOn, isDivided else { return }
    for other in others where !other.withLock(body) { return }
  }

  /// Moves something into the store of a key, where `body` is false if there is no room: then room is
  /// made in the other stores.
  ///
  /// What went is given back.
  @inlinable
  func put(
    _ hash: MemoryHash, cost: Int, _ now: Int64, _ body: (inout Store, inout Move) -> Bool
  ) -> Removals<Key, Value> {
    var move = Move(now)
    for _ in 0..<Self.attempts {
      let (isDone, isCrowded) = withStore(hash) { store in
        let isDone = body(&store, &move)
        budget.takeBack(&move.room)
        return (isDone, store.count >= Self.divisionCount)
      }
      if isCrowded, !others.isEmpty { divide() }
      if isDone { return move.removals }
      makeRoom(for: cost, &move)
    }
    withStore(hash) { $0.statistics.rejections &+= 1 }
    return move.removals
  }

  /// Lets entries of any shard go until there is room enough.
  @usableFromInline
  func makeRoom(for cost: Int, _ move: inout Move) {
    forEach { store in
      while !budget.hasRoom(for: cost) {
        if !store.evict(for: cost, .evicted, &move) { return true }
        budget.takeBack(&move.room)
      }
      return false
    }
  }

  /// Lets entries go, of all shards by turns, until the limits are kept.
  @usableFromInline
  func keepLimits() -> Removals<Key, Value> {
    var move = Move(0)
    var isEmpty = false
    while !budget.isKept, !isEmpty {
      isEmpty = true
      forEach { store in
        for _ in 0...(store.count / 4) {
          if budget.isKept { return false }
          if !store.evict(for: 0, .evicted, &move) { return true }
          isEmpty = false
          budget.release(move.room)
          move.room = MemoryRoom()
        }
        return true
      }
    }
    return move.removals
  }

  /// From how many entries on there are several shards.
  @usableFromInline static var divisionCount: Int { 4_096 }
  @usableFromInline static var shardCount: Int { 16 }

  /// How often room is looked for that others may take meanwhile.
  @usableFromInline static var attempts: Int { 1_000 }
}

extension MemoryShards {
  /// Lets go of what is beyond a share of what each store keeps, by number and by cost.
  @usableFromInline
  func trim(to share: Double, _ cause: Removal<Key, Value>.Cause) -> Removals<Key, Value> {
    let kept = share < 1 ? max(0, share) : 1
    var move = Move(0)
    forEach { store in
      store.trim(to: kept, cause, &move)
      budget.takeBack(&move.room)
      return true
    }
    return move.removals
  }
}

extension MemoryShards: FlightRooms {
  @inlinable
  func withFlights<Result>(
    of key: Key, _ body: (inout FlightTable<Key, Value>) -> Result
  ) -> Result {
    withStore(MemoryHash(key)) { body(&$0.flights) }
  }

  @inlinable
  func forEachTable(_ body: (inout FlightTable<Key, Value>) -> Void) {
    forEach { store in
      body(&store.flights)
      return true
    }
  }
}
