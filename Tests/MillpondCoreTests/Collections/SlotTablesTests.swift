import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct SlotTablesTests {
  private var tables = SlotTables()

  private func hash(_ slot: Slot) -> UInt32 {
    UInt32(truncatingIfNeeded: Int(slot).mixedHash)
  }

  private func isFound(_ slot: Slot) -> Bool {
    tables.find(hash(slot)) { $0 == slot } == slot
  }

  /// The greatest number of buckets that one change has to move.
  private var greatest: Int {
    tables.tables.map(\.buckets.count).max() ?? 0
  }

  @Test mutating func `no table grows with their number, and every slot is found`() {
    for slot in 0..<100_000 as Range<Slot> {
      tables.insert(hash(slot), slot)
      if slot.isMultiple(of: 4_096) { #expect(greatest <= 16_384) }
    }

    #expect(tables.count == 100_000 && tables.tables.count > 40)
    #expect((0..<100_000).allSatisfy { isFound($0) })
    #expect(tables.tables.map(\.count).reduce(0, +) == 100_000)
  }

  @Test mutating func `tables are given back with the slots, and every other slot is found`() {
    for slot in 0..<100_000 as Range<Slot> { tables.insert(hash(slot), slot) }

    for slot in 0..<99_000 as Range<Slot> { tables.remove(hash(slot), slot) }

    #expect(tables.count == 1_000 && tables.tables.count <= 2)
    #expect(greatest <= 16_384)
    #expect((99_000..<100_000).allSatisfy { isFound($0) })
    #expect(!(0..<99_000).contains { isFound($0) })
  }

  @Test mutating func `slots that are inserted together go into tables of their final size`() {
    tables.insert(0..<50_000) { [self] in hash($0) }

    #expect(tables.count == 50_000 && (0..<50_000).allSatisfy { isFound($0) })
    #expect(greatest <= 4_096)

    tables.insert(50_000..<50_001) { [self] in hash($0) }
    #expect(isFound(50_000))
  }

  @Test mutating func `a slot that is not there can be removed, and one that has moved is found`() {
    for slot in 0..<5_000 as Range<Slot> { tables.insert(hash(slot), slot) }

    tables.remove(hash(7), 8)
    tables.move(hash(9), from: 9, to: 9_000)

    #expect(tables.count == 5_000 && isFound(7) && !isFound(9))
    #expect(tables.find(hash(9)) { $0 == 9_000 } == 9_000)
  }

  @Test mutating func `slots of one hash are all found, and removed, beside others`() {
    for slot in 0..<10_000 as Range<Slot> { tables.insert(slot < 1_000 ? 7 : hash(slot), slot) }
    for slot in 0..<500 as Range<Slot> { tables.remove(7, slot) }

    #expect(tables.count == 9_500)
    #expect(
      (0..<1_000).allSatisfy { slot in
        (tables.find(7) { $0 == slot } == slot) == (slot >= 500)
      })
    #expect((1_000..<10_000).allSatisfy { isFound($0) })
  }

  @Test mutating func `only slots of a hash are compared when it is looked up`() {
    for slot in 0..<10_000 as Range<Slot> { tables.insert(hash(slot), slot) }

    var comparisons = 0
    for slot in 0..<10_000 as Range<Slot> {
      _ = tables.find(hash(slot)) {
        comparisons += 1
        return $0 == slot
      }
    }

    #expect(comparisons < 10_050)
  }
}
