public import MillpondSignals
public import Synchronization

/// The stores of a memory cache, each under its own lock: one below 4,096 entries, sixteen from
/// then on.
///
/// No two of their locks are held at once, except during the division of the first store, while no
/// other thread can hold another one.
@usableFromInline
@_fixed_layout
final class MemoryShards<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Store = MemoryStore<Key, Value>
  @usableFromInline typealias Move = MemoryMove<Key, Value>

  @usableFromInline let budget: MemoryBudget

  /// The shards side by side; as objects of their own they would be retained on the way to every
  /// hit.
  ///
  /// Sendable because a store is used only behind its gate.
  @usableFromInline nonisolated(unsafe) let shards: UnsafeMutablePointer<MemoryShard<Key, Value>>

  /// The greatest number of shards; only the first exists before the division.
  @usableFromInline let count: Int

  @usableFromInline let options: MemoryOptions

  /// The bits of a hash that select the shard: zero before the division, all of them after it.
  ///
  /// Changes once, under the lock of the first shard.
  @usableFromInline let mask = AtomicValue<Int>(0)

  @inlinable var isDivided: Bool { mask.load(ordering: .relaxed) != 0 }

  /// Lets all threads use all shards.
  @inlinable
  func markDivided() {
    mask.store(Self.shardCount - 1, ordering: .releasing)
  }

  @usableFromInline let removalListeners = RemovalListeners<Key, Value>()

  /// Held by the thread that keeps room outside the locks of the stores, which it takes under it.
  ///
  /// With a state, since the thread sanitizer takes an empty one for the object around it.
  let crowd = Locked(false)

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
    removalListeners.end()
  }

  /// Runs `body` with the store of a key.
  @inlinable
  @inline(__always)
  func withStore<Result>(_ hash: MemoryHash, _ body: (inout Store) -> Result) -> Result {
    var mask = mask.load(ordering: .acquiring)
    while true {
      let result = withShard(hash.shard(mask)) { store -> Result? in
        // It may have been divided before the lock was acquired.
        let present = self.mask.load(ordering: .relaxed)
        if present == mask { return body(&store) }
        mask = present
        return nil
      }
      if let result { return result }
    }
  }

  /// Creates the store of a shard.
  @inlinable
  func open(_ number: Int, expectedCount: Int) {
    let store = Store(budget, options, expectedCount: expectedCount)
    (shards + number).initialize(to: MemoryShard(store))
  }

  /// Runs `body` with each store in turn, until it returns false.
  @inlinable
  func forEach(_ body: (inout Store) -> Bool) {
    let (goesOn, isDivided) = withShard(0) { store in
      // Read under the lock: a division after that only moves entries that `body` has seen.
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

  /// Puts a value into the store of a key; if there is no room there, makes room in the other
  /// stores.
  ///
  /// - Returns: Whether the value is stored.
  @inlinable
  @discardableResult
  func put(
    _ hash: MemoryHash, cost: Int, _ now: Int64, _ body: (inout Store, inout Move) -> Placing
  ) -> Bool {
    var move = Move(now)
    var placing = place(hash, &move, keepsRoom: false, body)
    if placing == .crowded { placing = putAmongOthers(hash, cost: cost, &move, body) }
    finish(&move)
    return placing == .kept
  }

  @inlinable
  func place(
    _ hash: MemoryHash, _ move: inout Move, keepsRoom: Bool,
    _ body: (inout Store, inout Move) -> Placing
  ) -> Placing {
    let (placing, isLarge) = withStore(hash) { store in
      let placing = body(&store, &move)
      if placing != .crowded || !keepsRoom { budget.takeBack(&move.room) }
      return (placing, store.count >= Self.divisionCount)
    }
    if isLarge, count > 1 { divide() }
    return placing
  }

  /// Makes room in the other stores until a value has its place.
  ///
  /// Other threads may take the room that this one makes. After a few attempts one thread at a time
  /// keeps it, so that a large value gets in among many small ones.
  @usableFromInline
  func putAmongOthers(
    _ hash: MemoryHash, cost: Int, _ move: inout Move,
    _ body: (inout Store, inout Move) -> Placing
  ) -> Placing {
    for _ in 0..<4 {
      makeRoom(for: cost, &move)
      let placing = place(hash, &move, keepsRoom: false, body)
      if placing != .crowded { return placing }
    }
    return crowd.withLock { _ in
      for _ in 0..<Self.attempts {
        keepRoom(for: cost, &move)
        let placing = place(hash, &move, keepsRoom: true, body)
        if placing != .crowded { return placing }
        yieldThread()
      }
      withStore(hash) { store in
        store.statistics.rejections &+= 1
        budget.takeBack(&move.room)
      }
      return .refused
    }
  }

  /// Reports removals to subscribers, outside the locks.
  @inlinable
  func finish(_ move: inout Move) {
    if move.removals.first != nil, removalListeners.isListening {
      removalListeners.send(move.removals)
    }
  }

  /// Evicts entries of any shard until there is enough room.
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

  /// Evicts entries of any shard until there is enough room, and keeps that.
  func keepRoom(for cost: Int, _ move: inout Move) {
    forEach { store in
      while !budget.reserve(cost, from: &move.room) {
        if !store.evict(for: cost, .evicted, &move) { return true }
      }
      budget.takeBack(&move.room)
      move.room = MemorySpace(count: 1, cost: cost)
      return false
    }
  }

  /// Evicts entries, from all shards in turn, until the limits are kept.
  @usableFromInline
  func keepLimits() {
    // Room that a thread keeps at this moment is an entry after this.
    crowd.withLock { _ in }
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
    // Nothing is left to evict, but slots may be left to give up.
    forEachInSteps(0) { _, _, _ in false }
  }

  /// The number of entries from which there are several shards.
  @usableFromInline static var divisionCount: Int { 4_096 }
  @usableFromInline static var shardCount: Int { 16 }

  /// The number of attempts of a thread that keeps the room that it makes; the others have to put
  /// what they hold into a store meanwhile.
  @usableFromInline static var attempts: Int { 1_000 }
}

// MARK: - In steps

extension MemoryShards {
  /// The greatest number of entries that are removed or examined under one hold of a lock.
  @usableFromInline static var stepSize: Int { 256 }

  /// Runs `body` with one store after another, in steps, with the lock free between them.
  ///
  /// Values removed in a step are reported and released after it. A store that is left empty frees
  /// its memory; one that is left with few entries gives up what they do not need, in steps too.
  ///
  /// - Parameters:
  ///   - now: The present time of the cache's clock.
  ///   - body: Does a step and records its progress; returns whether another step with this store
  ///     is needed.
  @inlinable
  func forEachInSteps(_ now: Int64, _ body: (inout Store, inout StoreProgress, inout Move) -> Bool)
  {
    var (number, isDivided) = (0, false)
    var progress = StoreProgress()
    while number < (isDivided ? count : 1) {
      var move = Move(now)
      let (goesOn, former) = withShard(number) { store in
        if number == 0, !isDivided, mask.load(ordering: .relaxed) != 0 {
          // The entries have been moved to all stores meanwhile, so the operation begins again with
          // the first.
          (isDivided, progress) = (true, StoreProgress(isBegun: progress.isBegun))
        }
        if !progress.isBegun { store.walks += 1 }
        progress.isBegun = true
        let goesOn = body(&store, &progress, &move)
        if !goesOn { store.walks -= 1 }
        budget.takeBack(&move.room)
        return (goesOn, goesOn ? nil : store.takeIfEmpty())
      }
      finish(&move)
      withExtendedLifetime(former) {}  // released here, not under the lock
      if !goesOn {
        while withShard(number, { $0.shrink(atMost: Self.stepSize) }) {}
        (number, progress) = (number + 1, StoreProgress())
      }
    }
  }

  /// Evicts entries of each store beyond the given share, by count and by cost.
  @usableFromInline
  func trim(to share: Double, _ cause: Removal<Key, Value>.Cause) {
    // The greatest total would not convert back to an Int after a multiplication by 1.
    guard share < 1 else { return }
    forEachInSteps(0) { store, progress, move in
      store.trim(to: max(0, share), cause, &progress, atMost: Self.stepSize, &move)
    }
  }

  /// Removes everything that was written before `revision`.
  @inlinable
  func removeAll(_ revision: Revision, _ now: Int64) {
    forEachInSteps(now) { store, progress, move in
      store.removeAll(revision, &progress, atMost: Self.stepSize, &move)
    }
  }

  /// Removes all expired values.
  @inlinable
  func removeExpired(_ now: Int64) {
    forEachInSteps(now) { store, progress, move in
      guard store.times.expires, progress.place < store.slab.isUsed.count else { return false }
      store.sweep(&move, steps: Self.stepSize, dropsConfirmable: true)
      progress.place += Self.stepSize
      return true
    }
  }
}

/// A store and its lock.
@usableFromInline
@frozen
struct MemoryShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  // The store comes first: the thread sanitizer attributes a change of it to the first bytes of the
  // whole shard, which must not be the gate's.
  @usableFromInline var store: MemoryStore<Key, Value>
  @usableFromInline let gate = Gate()

  @inlinable
  init(_ store: MemoryStore<Key, Value>) {
    self.store = store
  }
}
