import Synchronization

@testable import MillpondCore

extension MemoryShards {
  /// Returns a fault in the stores or in their shared state; nil if there is none.
  ///
  /// The caller ensures that no other thread uses the cache.
  func flaw() -> String? {
    var (count, cost, number) = (0, 0, 0)
    var flaw: String?
    let mask = mask.load(ordering: .relaxed)
    forEach { store in
      flaw = store.flaw() ?? store.strangeness(to: number, mask)
      count += store.count
      cost += store.order.isWeighted ? store.order.totalWeight : 0
      number += 1
      return flaw == nil
    }
    if let flaw { return "store \(number - 1): \(flaw)" }
    if count != budget.count { return "\(count) are kept, and \(budget.count) have room" }
    return cost == budget.cost ? nil : "they cost \(cost), and have room for \(budget.cost)"
  }
}

extension MemoryStore {
  /// Returns a description of a key that belongs in another store; nil if there is none.
  fileprivate func strangeness(to shard: Int, _ mask: Int) -> String? {
    for slot in slab.isUsed.indices where slab.isUsed[slot] {
      let key = slab.pairs[slot].key
      if MemoryHash(key).shard(mask) != shard { return "\(key) should be in another store" }
    }
    return nil
  }
}
