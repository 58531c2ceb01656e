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

  /// Side by side, not each an object of its own: those would be retained on the way to every hit.
  ///
  /// Sendable because a store is used behind its gate only.
  @usableFromInline nonisolated(unsafe) let shards: UnsafeMutablePointer<MemoryShard<Key, Value>>

  /// How many there can be; there is only the first until it is divided.
  @usableFromInline let count: Int

  @usableFromInline let options: MemoryOptions

  /// Which bits of a hash choose the shard: none, or all that there are.
  ///
  /// Changes once, under the lock of the first shard.
  @usableFromInline let mask = Atomic<Int>(0)

  @usableFromInline let audience = RemovalAudience<Key, Value>()

  @inlinable
  init(_ budget: MemoryBudget, _ options: MemoryOptions) {
    self.budget = budget
    count = budget.countLimit < Self.divisionCount ? 1 : Self.shardCount
    shards = .allocate(capacity: count)
    self.options = options
    open(0, expectedCount: min(budget.countLimit, Self.divisionCount))
  }

  deinit {
    shards.deinitialize(count: mask.load(ordering: .acquiring) == 0 ? 1 : count)
    shards.deallocate()
  }

  /// Runs `body` with the store of a key.
  @inlinable
  @inline(__always)
  func withStore<Result>(_ hash: MemoryHash, _ body: (inout Store) -> Result) -> Result {
    var mask = mask.load(ordering: .acquiring)
    while true {
      let result = withShard(hash.shard(mask)) { store -> Result? in
        // It may have been divided before the lock was had.
        let present = self.mask.load(ordering: .relaxed)
        if present == mask { return body(&store) }
        mask = present
        return nil
      }
      if let result { return result }
    }
  }

  /// Makes a store that there was none of.
  @inlinable
  func open(_ number: Int, expectedCount: Int) {
    let store = Store(budget, options, expectedCount: expectedCount)
    (shards + number).initialize(to: MemoryShard(store))
  }

  /// Runs `body` with one store after the other, until it says false.
  @inlinable
  func forEach(_ body: (inout Store) -> Bool) {
    let (goesOn, isDivided) = withShard(0) { store in
      // Under the lock: if it is divided after that, all that the others have has been seen.
      (body(&store), mask.load(ordering: .relaxed) != 0)
    }
    guard goesOn, isDivided else { return }
    for number in 1..<count where !withShard(number, body) { return }
  }

  @inlinable
  @inline(__always)
  func withShard<Result>(_ number: Int, _ body: (inout Store) -> Result) -> Result {
    let shard = shards + number
    return shard.pointee.gate.withLock { body(&shard.pointee.store) }
  }

  /// Moves something into the store of a key; if there is no room, it is made in the other stores.
  ///
  /// - Returns: Whether it is kept.
  @inlinable
  @discardableResult
  func put(
    _ hash: MemoryHash, cost: Int, _ now: Int64, _ body: (inout Store, inout Move) -> Placing
  ) -> Bool {
    var move = Move(now)
    for attempt in 0..<Self.attempts {
      let (placing, isLarge) = withStore(hash) { store in
        let placing = body(&store, &move)
        budget.takeBack(&move.room)
        return (placing, store.count >= Self.divisionCount)
      }
      if isLarge, count > 1 { divide() }
      if placing != .crowded {
        finish(&move)
        return placing == .kept
      }
      // Before, not after: what room there is then would be others'.
      if attempt > 2 { yieldThread() }
      makeRoom(for: cost, &move)
    }
    withStore(hash) { $0.statistics.rejections &+= 1 }
    finish(&move)
    return false
  }

  /// Tells what went to whom it concerns: out of the locks.
  @inlinable
  func finish(_ move: inout Move) {
    if move.removals.first != nil, audience.isListening { audience.tell(move.removals) }
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
  func keepLimits() {
    var isEmpty = false
    while !budget.isKept, !isEmpty {
      isEmpty = true
      var move = Move(0)
      forEach { store in
        for _ in 0...min(store.count / 4, Self.stepSize) {
          if budget.isKept { return false }
          if !store.evict(for: 0, .evicted, &move) { return true }
          isEmpty = false
          budget.takeBack(&move.room)
        }
        return true
      }
      finish(&move)
    }
  }

  /// From how many entries on there are several shards.
  @usableFromInline static var divisionCount: Int { 4_096 }
  @usableFromInline static var shardCount: Int { 16 }

  /// How often room is looked for that others may take, or hold, meanwhile.
  @usableFromInline static var attempts: Int { 1_000 }
}

// MARK: - In steps

extension MemoryShards {
  /// The greatest number of entries that are dropped, or examined, in one hold of a lock.
  @usableFromInline static var stepSize: Int { 256 }

  /// Runs `body` with one store after the other, in steps, with the lock free between them.
  ///
  /// Values that a step drops are announced and released after it. A store that is left empty gives its
  /// memory back.
  ///
  /// - Parameter body: Does a step and records its progress; false when it is done with the store.
  @inlinable
  func forEachInSteps(_ now: Int64, _ body: (inout Store, inout StoreProgress, inout Move) -> Bool)
  {
    var (number, isDivided) = (0, false)
    var progress = StoreProgress()
    while number < (isDivided ? count : 1) {
      var move = Move(now)
      let (goesOn, former) = withShard(number) { store in
        if number == 0, !isDivided, mask.load(ordering: .relaxed) != 0 {
          // All entries have been moved since: begin again, and go on with the other stores.
          (isDivided, progress) = (true, StoreProgress())
        }
        let goesOn = body(&store, &progress, &move)
        budget.takeBack(&move.room)
        return (goesOn, goesOn ? nil : store.takeIfEmpty())
      }
      finish(&move)
      _ = former  // released here, not under the lock
      if !goesOn { (number, progress) = (number + 1, StoreProgress()) }
    }
  }

  /// Lets go of what is beyond a share of what each store keeps, by number and by cost.
  @usableFromInline
  func trim(to share: Double, _ cause: Removal<Key, Value>.Cause) {
    // Of the whole, a cost as large as an Int holds would not be one any more after the product.
    guard share < 1 else { return }
    forEachInSteps(0) { store, progress, move in
      store.trim(to: max(0, share), cause, &progress, atMost: Self.stepSize, &move)
    }
  }

  /// Drops everything that was written before `revision`.
  @inlinable
  func removeAll(_ revision: Revision, _ now: Int64) {
    forEachInSteps(now) { store, progress, move in
      store.removeAll(revision, &progress, atMost: Self.stepSize, &move)
    }
  }

  /// Drops everything of which the time is over.
  @inlinable
  func removeExpired(_ now: Int64) {
    forEachInSteps(now) { store, progress, move in
      guard store.times.expires, progress.place < store.slab.isUsed.count else { return false }
      store.sweep(&move, steps: Self.stepSize)
      progress.place += Self.stepSize
      return true
    }
  }
}

/// The progress of an operation in steps with one store.
@usableFromInline
struct StoreProgress {
  /// The next place to examine, or the number of entries that may still be dropped.
  @usableFromInline var place = 0

  /// The count and cost that may be left at the end; nil before the first step.
  @usableFromInline var limits: (count: Int, cost: Int)?

  @inlinable
  init() {}
}

/// A store and its lock.
@usableFromInline
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  // The store comes first: the thread sanitizer takes a change of it for one of the whole shard's
  // first bytes, which must not be the gate's.
  @usableFromInline var store: MemoryStore<Key, Value>
  @usableFromInline let gate = Gate()

  @inlinable
  init(_ store: MemoryStore<Key, Value>) {
    self.store = store
  }
}
