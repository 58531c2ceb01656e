import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct PolicyOrderVictimsTests {
  /// A cache of keys only: a key that is asked for is inserted, and the policy's choice is evicted
  /// for it.
  private struct Keys {
    var order: PolicyOrder
    let limit: Int
    var slots: [UInt32: Slot] = [:]
    var free: [Slot]
    var weight = 0
    var hits = 0

    init(limit: Int, isWeighted: Bool = false, policy: EvictionPolicy = .adaptive) {
      order = PolicyOrder(policy, isWeighted: isWeighted)
      self.limit = limit
      free = (0..<Slot(limit)).reversed()
      order.reserve(limit, expected: limit)
    }

    mutating func ask(_ key: UInt32, weight: Int = 1) {
      if let slot = slots[key] {
        hits += 1
        return order.used(slot, key)
      }
      order.missed(key)
      add(key, weight: weight)
    }

    mutating func add(_ key: UInt32, weight newWeight: Int = 1) {
      var isFirst = true
      while weight + newWeight > limit {
        if isFirst, !order.admits(key, weight: newWeight) { return }
        isFirst = false
        let victims = order.chooseVictims(for: newWeight)
        for slot in [victims.first] + victims.others { remove(slot) }
      }
      // Slots are handed out from zero on, and reused when they are free again.
      guard let slot = free.popLast() else { return }
      slots[key] = slot
      weight += newWeight
      order.added(slot, key, weight: newWeight)
      if isFirst { order.settle() }
    }

    private mutating func remove(_ slot: Slot) {
      order.removed(slot)
      weight -= order.nodes.weight(of: slot)
      slots[order.nodes.hash(of: slot)] = nil
      free.append(slot)
    }
  }

  @Test func `if every value has been used, an eviction passes over few`() {
    let count: UInt32 = 10_000
    var keys = Keys(limit: Int(count))
    for _ in 0..<3 { for key in 0..<count { keys.ask(key) } }
    func usedCount() -> Int { keys.order.states.count { $0 & PolicyOrder.isUsed != 0 } }
    let before = usedCount()
    #expect(before == Int(count))

    keys.ask(count)

    #expect(keys.slots[count] != nil)
    #expect(usedCount() >= before - PolicyOrder.chances - 3)
    #expect(keys.order.count == Int(count))
  }

  @Test func `a frequently used entry outlives a scan`() {
    var keys = Keys(limit: 100)
    for _ in 0..<10 { for key in 0..<50 as Range<UInt32> { keys.ask(key) } }

    for key in 1_000..<11_000 as Range<UInt32> { keys.ask(key) }

    let left = (0..<50 as Range<UInt32>).filter { keys.slots[$0] != nil }
    #expect(left.count >= 45)
    #expect(keys.slots.count == 100)
  }

  @Test func `a loop that is larger than the cache is kept in part`() {
    var keys = Keys(limit: 100)

    for round in 0..<100 as Range<Int> {
      if round == 50 { keys.hits = 0 }
      for key in 0..<200 as Range<UInt32> { keys.ask(key) }
    }

    // Least recently used eviction has no hit at all; half is the optimum.
    #expect(keys.hits > 50 * 200 / 4)
  }

  @Test func `an entry that was popular once does not stay for ever`() {
    var keys = Keys(limit: 100)
    for _ in 0..<20 { for key in 0..<100 as Range<UInt32> { keys.ask(key) } }

    keys.hits = 0
    for _ in 0..<50 { for key in 1_000..<1_100 as Range<UInt32> { keys.ask(key) } }

    #expect((1_000..<1_100 as Range<UInt32>).filter { keys.slots[$0] != nil }.count > 90)
  }

  @Test func `a value that has just been set is stored`() {
    var keys = Keys(limit: 10)
    var random = SeededGenerator(seed: 5)

    for _ in 0..<2_000 {
      let key = UInt32.random(in: 0..<40, using: &random)
      keys.ask(key)
      #expect(keys.slots[key] != nil)
    }
  }

  @Test func `a large entry has to be used more often than all its victims together`() {
    var keys = Keys(limit: 100, isWeighted: true)
    for _ in 0..<3 { for key in 0..<100 as Range<UInt32> { keys.ask(key) } }

    keys.ask(1_000, weight: 40)
    #expect(keys.slots[1_000] == nil && keys.slots.count == 100)
    #expect(keys.order.sketch.frequency(1_000) == 1)

    keys.ask(1_001, weight: 2)
    #expect(keys.slots[1_001] != nil)
  }

  @Test func `a large value is admitted where its use justifies its size`() {
    var keys = Keys(limit: 100, isWeighted: true)
    for key in 0..<4 as Range<UInt32> { keys.ask(key, weight: 25) }

    for _ in 0..<6 { keys.ask(1_000, weight: 50) }

    #expect(keys.slots[1_000] != nil)
    #expect(keys.weight <= 100)
  }

  @Test func `if small entries are used more, a large one is evicted for them`() {
    var keys = Keys(limit: 100, isWeighted: true, policy: .adaptivePreferringSmall)
    for key in 0..<6 as Range<UInt32> { keys.ask(key, weight: key == 3 ? 50 : 10) }
    keys.ask(5)

    keys.ask(100, weight: 10)

    #expect(keys.slots[3] == nil)
    #expect([0, 1, 2].allSatisfy { keys.slots[$0] != nil })
  }

  @Test func `a value that is used on probation is protected, of at most seven tenths`() {
    var keys = Keys(limit: 100)
    for _ in 0..<5 { for key in 0..<100 as Range<UInt32> { keys.ask(key) } }
    for key in 200..<300 as Range<UInt32> { keys.ask(key) }

    let main = keys.order.probation.weight + keys.order.protected.weight
    #expect(keys.order.protected.count > 0)
    #expect(keys.order.protected.weight <= main * 7 / 10)
  }

  @Test(arguments: [EvictionPolicy.adaptive, .adaptivePreferringSmall])
  func `entries of no weight can all go`(policy: EvictionPolicy) {
    var order = PolicyOrder(policy, isWeighted: true)
    order.reserve(10, expected: 10)
    for slot in 0..<10 as Range<Slot> { order.added(slot, UInt32(slot), weight: 0) }
    for slot in 0..<5 as Range<Slot> { order.used(slot, UInt32(slot)) }
    var gone: Set<Slot> = []

    while gone.count < 10 {
      let victims = order.chooseVictims(for: 0)
      guard !victims.isEmpty else { break }
      for slot in [victims.first] + victims.others {
        order.removed(slot)
        gone.insert(slot)
      }
    }

    let victims = order.chooseVictims(for: 0)
    #expect(gone.count == 10 && victims.isEmpty)
  }

  @Test func `a window that has become smaller is emptied a few entries at a time`() {
    let count = 10_000
    var order = PolicyOrder(.adaptive, isWeighted: false)
    order.reserve(count + 100, expected: count + 100)
    for slot in 0..<Slot(count) { order.added(slot, UInt32(slot), weight: 1) }
    #expect(order.window.count == count)

    order.settle()
    #expect(order.isSettling && order.probation.count == PolicyOrder.settlingCount)
    let victims = order.chooseVictims(for: 1)
    #expect(order.probation.count == 2 * PolicyOrder.settlingCount)
    // Without a contest: those that are to be moved stay.
    #expect(victims.first == 0)
    for slot in Slot(count)..<Slot(count + 100) { order.added(slot, UInt32(slot), weight: 1) }

    #expect(!order.isSettling && order.count == count + 100)
    #expect(order.window.count < order.count / 25)
  }

  @Test func `weights near the largest number there is are compared without overflow`() {
    var order = PolicyOrder(.adaptive, isWeighted: true)
    order.reserve(2, expected: 2)
    for _ in 0..<50 {
      order.share.windowHits = 1_000
      order.share.steer(windowWeight: 1, mainWeight: 1)
    }
    order.added(0, 1, weight: 1)
    order.added(1, 2, weight: .max / 10 * 8)
    order.settle()

    let victims = order.chooseVictims(for: .max / 10 * 8)

    #expect(order.probation.count == 1 && victims.first >= 0)
  }
}
