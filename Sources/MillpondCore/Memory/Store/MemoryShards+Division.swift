import MillpondSignals
import Synchronization

extension MemoryShards {
  /// Divides the one store among all, once.
  @usableFromInline
  func divide() {
    if mask.load(ordering: .relaxed) != 0 { return }
    let whole = withShard(0) { store -> Store? in
      if mask.load(ordering: .relaxed) != 0 { return nil }
      let whole = store
      store = whole.emptied()
      store.expectedCount = budget.countLimit / count
      store.adopt(from: whole) { $0.shard(Self.shardCount - 1) == 0 }
      for number in 1..<count {
        open(number, expectedCount: store.expectedCount)
        withShard(number) { other in
          other.writes = whole.writes
          other.adopt(from: whole) { $0.shard(Self.shardCount - 1) == number }
        }
      }
      mask.store(Self.shardCount - 1, ordering: .releasing)
      return whole
    }
    _ = whole  // released here, not under the lock
  }
}
