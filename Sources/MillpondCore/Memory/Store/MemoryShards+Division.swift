import MillpondSignals
public import Synchronization

extension MemoryShards {
  /// Divides the one store among all, once.
  ///
  /// - Complexity: O(*n*); every caller waits meanwhile.
  @inlinable
  func divide() {
    if mask.load(ordering: .relaxed) != 0 { return }
    let whole = withShard(0) { store -> Store? in
      if mask.load(ordering: .relaxed) != 0 { return nil }
      let whole = store
      store = whole.emptied()
      store.expectedCount = budget.countLimit / count
      for number in 1..<count {
        open(number, expectedCount: store.expectedCount)
        shards[number].store.writes = whole.writes
      }
      whole.order.forEach { slot in
        let hash = MemoryHash(whole.pairs[Int(slot)].key)
        let number = hash.shard(Self.shardCount - 1)
        if number == 0 {
          store.adopt(slot, hash, from: whole)
        } else {
          // Nobody else comes to these before the mask is there.
          shards[number].store.adopt(slot, hash, from: whole)
        }
      }
      mask.store(Self.shardCount - 1, ordering: .releasing)
      return whole
    }
    _ = whole  // released here, not under the lock
  }
}
