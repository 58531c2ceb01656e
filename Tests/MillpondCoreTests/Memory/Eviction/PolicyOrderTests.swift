import Testing

@testable import MillpondCore

@Suite struct PolicyOrderTests {
  var order = PolicyOrder(.leastRecentlyUsed, isWeighted: true)

  init() {
    for slot in 0..<4 as Range<Slot> { order.added(slot, UInt32(slot), weight: 10) }
  }

  private var sequence: [Slot] {
    var slots: [Slot] = []
    order.forEach { slots.append($0) }
    return slots
  }

  @Test func `the first that came goes first`() {
    #expect(sequence == [0, 1, 2, 3])
  }

  @Test mutating func `a used value goes last`() {
    order.used(1, 1)
    order.used(3, 3)
    order.used(0, 0)

    let victims = order.chooseVictims(for: 1)
    #expect(sequence == [2, 1, 3, 0])
    #expect(victims.first == 2 && victims.others.isEmpty)
  }

  @Test(arguments: [0, 1, 3] as [Slot])
  func `a removed entity is at no place, and can come anew`(slot: Slot) {
    var order = order
    order.removed(slot)
    order.added(slot, 7, weight: 1)

    var sequence: [Slot] = []
    order.forEach { sequence.append($0) }
    #expect(sequence == [0, 1, 2, 3].filter { $0 != slot } + [slot])
    #expect(order.window.weight == 31 && order.window.count == 4)
  }

  @Test mutating func `a cache that weighs something else is used, and the sum is right`() {
    order.reweighed(1, weight: 3)

    #expect(order.window.weight == 33 && order.nodes.weight(of: 1) == 3)
    #expect(sequence == [0, 2, 3, 1])
  }

  @Test mutating func `an eviction among none evicts none`() {
    for slot in 0..<4 as Range<Slot> { order.removed(slot) }

    let victims = order.chooseVictims(for: 1)
    #expect(victims.isEmpty && sequence.isEmpty)
    #expect(order.window.newest < 0 && order.window.oldest < 0)
  }

  @Test mutating func `an entry whose slot is given up keeps its place`() {
    order.removed(1)

    let (last, place) = order.removeLastSlot()

    #expect(last == 3 && place == 1)
    #expect(sequence == [0, 2, 1])
  }

  @Test func `every entry is admitted`() {
    var order = PolicyOrder(.leastRecentlyUsed, isWeighted: true)

    let isAdmitted = order.admits(9, weight: .max)

    #expect(isAdmitted)
  }
}
