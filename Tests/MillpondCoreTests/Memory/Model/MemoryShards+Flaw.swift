import Synchronization

@testable import MillpondCore

extension MemoryShards {
  /// What is wrong with the stores, or with what is known of all together; nil if nothing is.
  ///
  /// To be asked when nobody else is active.
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
  /// Which key should be in another store; nil if none should.
  fileprivate func strangeness(to shard: Int, _ mask: Int) -> String? {
    for slot in slab.isUsed.indices where slab.isUsed[slot] {
      let key = slab.pairs[slot].key
      if MemoryHash(key).shard(mask) != shard { return "\(key) should be in another store" }
    }
    return nil
  }
}
