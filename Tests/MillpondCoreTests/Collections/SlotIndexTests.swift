import MillpondTesting
import TestTraits
import Testing

@testable import MillpondCore

@Suite(.heavy) struct SlotIndexTests {
  @Test(arguments: [1, 7, 100, 5_000], [false, true])
  func `it finds what a dictionary does, whatever hashes collide`(hashes: Int, atEnd: Bool) {
    var random = SeededGenerator(seed: UInt64(hashes))
    var index = SlotIndex()
    var reference: [Slot: UInt32] = [:]

    for _ in 0..<25_000 {
      let slot = Slot.random(in: 0..<60, using: &random)
      let offset = UInt32.random(in: 0..<UInt32(hashes), using: &random)
      // Hashes at the end of the range wrap round to the first buckets.
      let hash = atEnd ? UInt32.max - offset : offset &* 0x9E37_79B9
      if let present = reference[slot] {
        index.remove(present, slot)
        reference[slot] = nil
        if index.find(present, { $0 == slot }) != nil { Issue.record("\(slot) is still found") }
      } else {
        index.insert(hash, slot)
        reference[slot] = hash
      }
      let probe = Slot.random(in: 0..<60, using: &random)
      if let present = reference[probe], index.find(present, { $0 == probe }) != probe {
        Issue.record("\(probe) is not found")
      }
      if index.count != reference.count { Issue.record("\(index.count) are counted") }
    }

    #expect(reference.allSatisfy { slot, hash in index.find(hash) { $0 == slot } == slot })
    #expect(index.buckets.filter { $0 != 0 }.count == reference.count)
  }

  @Test func `every one of a hash is looked at until one is it`() {
    var index = SlotIndex()
    for slot in 0..<20 as Range<Slot> { index.insert(3, slot) }
    var seen: Set<Slot> = []

    let found = index.find(3) { slot in
      seen.insert(slot)
      return false
    }

    #expect(found == nil && seen.count == 20)
  }

  @Test func `a move of what is not there ends, and changes nothing`() {
    var index = SlotIndex()
    index.insert(1, 1)

    index.move(1, from: 2, to: 3)
    index.move(2, from: 1, to: 3)

    #expect(index.count == 1 && index.find(1) { $0 == 1 } == 1)
    #expect(index.find(2) { _ in true } == nil)
  }

  @Test func `of none nothing is found, and what isn't there can be removed`() {
    var index = SlotIndex()
    index.remove(1, 1)
    #expect(index.find(1) { _ in true } == nil)

    index.insert(1, 1)
    index.remove(1, 2)
    index.remove(2, 1)

    #expect(index.count == 1 && index.find(1) { $0 == 1 } == 1)
  }

  @Test func `the first and the last slot can be kept`() {
    var index = SlotIndex()
    index.insert(.max, 0)
    index.insert(0, Slot.max - 1)

    #expect(index.find(.max) { _ in true } == 0)
    #expect(index.find(0) { _ in true } == Slot.max - 1)
  }

  @Test func `at most three quarters of it are taken`() {
    var index = SlotIndex()

    for slot in 0..<1_000 as Range<Slot> {
      index.insert(UInt32(slot) &* 7, slot)
      #expect(index.count * 4 <= index.buckets.count * 3)
    }
  }

  private func hash(_ slot: Slot) -> UInt32 {
    UInt32(truncatingIfNeeded: Int(slot).mixedHash)
  }

  @Test func `slots that are inserted together make room once, and most are found at once`() {
    var index = SlotIndex()
    index.insert(0..<50_000) { hash($0) }
    #expect(index.count == 50_000 && index.buckets.count < 100_000)

    var comparisons = 0
    for slot in 0..<50_000 as Range<Slot> {
      let found = index.find(hash(slot)) {
        comparisons += 1
        return $0 == slot
      }
      if found != slot { Issue.record("\(slot) is not found") }
    }
    #expect(comparisons < 51_000)
  }

  @Test func `buckets are given back with the slots, and every other slot is found`() {
    var index = SlotIndex()
    for slot in 0..<100_000 as Range<Slot> { index.insert(hash(slot), slot) }

    for slot in 0..<99_000 as Range<Slot> { index.removeShrinking(hash(slot), slot) }

    #expect(index.count == 1_000 && index.buckets.count < 8_000)
    #expect((99_000..<100_000).allSatisfy { slot in index.find(hash(slot)) { $0 == slot } == slot })
    #expect(!(0..<99_000).contains { slot in index.find(hash(slot)) { $0 == slot } != nil })
  }
}
