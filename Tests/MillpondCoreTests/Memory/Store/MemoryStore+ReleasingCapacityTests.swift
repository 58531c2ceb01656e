import MillpondSignals
import Testing

@testable import MillpondCore

/// Memory after removals: in proportion to what is kept, and given back a few slots at a time.
@Suite struct MemoryStoreReleasingCapacityTests {
  private var store = MemoryStore<String, Int>(
    MemoryBudget(countLimit: .max, costLimit: .max),
    MemoryOptions(
      policy: .adaptive, isWeighted: false, timeToLive: .forever, timeToIdle: .forever, jitter: 0),
    expectedCount: 25_000)

  private static let count = 20_000

  init() {
    for key in 0..<Self.count { set(key) }
  }

  private mutating func set(_ key: Int) {
    var move = MemoryMove<String, Int>(0)
    let details = MemoryDetails(
      cost: 1, bornAt: 0, deadline: key.isMultiple(of: 2) ? .max : 1_000, revision: .next())
    _ = store.set("\(key)", MemoryHash("\(key)"), key, nil, details, &move)
    budget(&move)
  }

  private func budget(_ move: inout MemoryMove<String, Int>) {
    store.budget.takeBack(&move.room)
  }

  private mutating func remove(_ keys: some Sequence<Int>) {
    for key in keys {
      var move = MemoryMove<String, Int>(0)
      store.remove("\(key)", MemoryHash("\(key)"), .next(), &move)
    }
  }

  private func value(_ key: Int) -> Int? {
    store.peek("\(key)", MemoryHash("\(key)"), 0)?.value
  }

  /// The elements for which there is memory.
  private var capacities: [Int] {
    [
      store.slab.capacity, store.slab.isUsed.capacity, store.order.nodes.nodes.capacity,
      store.times.stamps.capacity, store.times.deadlines.capacity,
      store.order.states.capacity, store.index.buckets.count,
    ]
  }

  @Test(arguments: [true, false])
  mutating func `memory is given back when entries are removed one by one`(isFirstKept: Bool) {
    let kept = isFirstKept ? 0..<1_000 : Self.count - 1_000..<Self.count

    remove((0..<Self.count).filter { !kept.contains($0) })

    #expect(store.count == 1_000 && store.slab.isUsed.count <= 4_000)
    for capacity in capacities { #expect(capacity <= 16_000) }
    #expect(store.flaw() == nil)
    #expect(kept.allSatisfy { value($0) == $0 })
    #expect(
      kept.allSatisfy { key in
        store.peek("\(key)", MemoryHash("\(key)"), 2_000) == nil || key.isMultiple(of: 2)
      })
  }

  @Test mutating func `counters of uses are given back too`() {
    let blocks = store.order.sketch.blocks

    remove(1_000..<Self.count)

    #expect(store.order.sketch.blocks <= blocks / 4)
  }

  @Test mutating func `one removal gives up no more than eight slots`() {
    remove(10_000..<Self.count)
    var (former, greatest) = (store.slab.isUsed.count, 0)

    for key in 0..<9_000 {
      remove(CollectionOfOne(key))
      greatest = max(greatest, former - store.slab.isUsed.count)
      former = store.slab.isUsed.count
    }

    #expect((1...8).contains(greatest))
  }

  @Test mutating func `entries keep their slots while an operation in steps is under way`() {
    store.walks = 1
    remove(100..<Self.count)
    #expect(store.slab.isUsed.count == Self.count)

    store.walks = 0
    while store.shrink(atMost: 256) {}

    #expect(store.slab.isUsed.count == SlotNodes.fewSlots && store.flaw() == nil)
  }

  @Test mutating func `a store that was shrunk grows again`() {
    remove(10..<Self.count)
    for key in 10..<Self.count { set(key) }

    #expect(store.count == Self.count && store.flaw() == nil)
    #expect((0..<Self.count).allSatisfy { value($0) == $0 })
  }
}
