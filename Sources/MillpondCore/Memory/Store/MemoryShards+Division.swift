import MillpondSignals
import Synchronization

extension MemoryShards {
  /// Divides the one store among all, once.
  @usableFromInline
  func divide() {
    if mask.load(ordering: .relaxed) != 0 { return }
    let whole = first.withLock { store -> Store? in
      if mask.load(ordering: .relaxed) != 0 { return nil }
      let whole = store
      store = whole.emptied()
      store.adopt(from: whole) { $0.shard(Self.shardCount - 1) == 0 }
      for (number, other) in others.enumerated() {
        other.withLock {
          $0.told = whole.told
          $0.adopt(from: whole) { $0.shard(Self.shardCount - 1) == number + 1 }
        }
      }
      mask.store(Self.shardCount - 1, ordering: .releasing)
      return whole
    }
    _ = whole  // released here, not under the lock
  }
}
