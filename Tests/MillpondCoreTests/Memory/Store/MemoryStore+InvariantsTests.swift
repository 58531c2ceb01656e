import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Each kind of flaw is found: a check that could not fail would say nothing.
@Suite struct MemoryStoreInvariantsTests {
  typealias Store = MemoryStore<Int, Int>

  let cache = MemoryCache<Int, Int>(costLimit: 100, cost: { $0 })

  init() {
    for key in 0..<10 { cache.set(key, for: key) }
    cache.remove(3)
  }

  private func flaw(after spoil: (inout Store) -> Void) -> String? {
    cache.shards.withShard(0) { store in
      spoil(&store)
      return store.flaw()
    }
  }

  private func hash(_ key: Int) -> UInt32 {
    MemoryHash(key).bits
  }

  @Test func `a sound store has no flaw`() {
    #expect(flaw { _ in } == nil)
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `a slot that is not found`() {
    let found = flaw {
      $0.index.remove(hash(1), 1)
      $0.index.insert(hash(1) &+ 1, 1)
    }
    #expect(found == "slot 1 is not found")
  }

  @Test func `a bucket that is forgotten, or one too many`() {
    #expect(flaw { $0.index.remove(hash(1), 1) } != nil)
    #expect(flaw { $0.index.insert(hash(77), 77) } != nil)
    #expect(flaw { $0.index.count += 1 } != nil)
  }

  @Test func `a key that is there twice`() {
    let found = flaw { store in
      let details = MemoryDetails(cost: 5, bornAt: 0, deadline: .max, revision: .none)
      store.add(5, MemoryHash(5), 5, nil, details, 0)
    }
    #expect(found?.hasSuffix("has a twin") == true)
  }

  @Test func `a slot that is neither used nor free, or both`() {
    #expect(flaw { $0.order.nodes.takeFree(3) } == "slots that are neither used nor free")
    #expect(flaw { $0.order.nodes.firstFree = 1 } != nil)
  }

  @Test func `a slot that is free twice`() {
    let found = flaw { $0.order.nodes.nodes[3].newer = -3 - 3 }
    #expect(found?.hasPrefix("slot 3 is free twice") == true)
  }

  @Test func `a weight that was forgotten`() {
    #expect(flaw { $0.order.probation.weight -= 1 }?.contains("weighs") == true)
    #expect(flaw { $0.order.nodes.weights[1] += 1 } != nil)
  }

  @Test func `a list that has lost one, or has a wrong neighbour`() {
    #expect(flaw { $0.order.removed(1) }?.contains("in no list") == true)
    #expect(flaw { $0.order.probation.count += 1 } != nil)
    #expect(flaw { $0.order.probation.newest = 0 } != nil)
    #expect(flaw { $0.order.nodes.nodes[2].older = -1 } != nil)
  }

  @Test func `a list that goes round in a circle`() {
    #expect(flaw { $0.order.nodes.nodes[8].newer = 0 } != nil)
  }

  @Test func `a slot that says it is in another list`() {
    let found = flaw { $0.order.states[1] = PolicyOrder.inProtected }
    #expect(found == "slot 1 is in another list than it says")
  }

  @Test func `details of what is not there`() {
    #expect(flaw { $0.validators[3] = Validator(entityTag: "1") } != nil)
    #expect(flaw { $0.times.stamps.removeLast() } != nil)
  }

  @Test func `a hash that is another key's`() {
    #expect(flaw { $0.order.nodes.nodes[1].hash ^= 1 } != nil)
  }

  @Test func `a budget that is not the sum of the stores`() {
    cache.shards.budget.release(MemorySpace(count: 0, cost: 1))
    #expect(cache.shards.flaw()?.contains("cost") == true)

    cache.shards.budget.release(MemorySpace(count: 1, cost: 0))
    #expect(cache.shards.flaw()?.contains("have room") == true)
  }

  @Test func `a store looks at itself now and then`() {
    cache.shards.withShard(0) { store in
      store.order.nodes.firstFree = -1
      for insertions in 1..<64 {
        store.statistics.insertions = insertions
        #expect(store.occasionalFlaw() == nil)
      }
      store.statistics.insertions = 128
      #expect(store.occasionalFlaw() != nil)
    }
  }
}
