/// An index of slots by hash in tables that stay small, so that no change of it takes longer than
/// that of one table.
///
/// The lower bits of a hash select the table. Tables are divided in turn, one at a time, as entries
/// come, and joined again as they go.
///
/// - Source: linear hashing, Litwin 1980.
@usableFromInline
package struct SlotTables: Sendable {
  @usableFromInline private(set) var tables: ContiguousArray<SlotIndex> = [SlotIndex()]
  package private(set) var count = 0

  /// The number of entries per table above which a table is divided; a table that is to be divided
  /// soon has up to twice as many.
  static let tableCount = 2_048

  @usableFromInline
  package init() {}

  /// Returns the slot with this hash for which `isIt` is true.
  @inlinable
  package func find(_ hash: UInt32, _ isIt: (Slot) -> Bool) -> Slot? {
    tables[table(of: hash)].find(hash, isIt)
  }

  @usableFromInline
  package mutating func insert(_ hash: UInt32, _ slot: Slot) {
    tables[table(of: hash)].insert(hash, slot)
    count += 1
    if count > tables.count * Self.tableCount { divide() }
  }

  /// Inserts many slots, none of which is in the index yet.
  ///
  /// The tables of an empty index get their final sizes first.
  package mutating func insert(_ slots: Range<Slot>, hash: (Slot) -> UInt32) {
    if count == 0 { reserve(slots.count) }
    for slot in slots { insert(hash(slot), slot) }
  }

  @usableFromInline
  package mutating func remove(_ hash: UInt32, _ slot: Slot) {
    let table = table(of: hash)
    let former = tables[table].count
    tables[table].remove(hash, slot)
    count -= former - tables[table].count
    if tables.count > 1, count * 4 < tables.count * Self.tableCount { join() }
  }

  /// Records that an entry has moved to another slot.
  @usableFromInline
  package mutating func move(_ hash: UInt32, from old: Slot, to new: Slot) {
    tables[table(of: hash)].move(hash, from: old, to: new)
  }

  /// The greatest power of two that is not greater than a number.
  @inlinable
  static func powerOfTwo(in number: Int) -> Int {
    1 << (Int.bitWidth - 1 - number.leadingZeroBitCount)
  }

  @inlinable
  func table(of hash: UInt32) -> Int {
    Self.table(of: hash, among: tables.count)
  }

  /// Returns the number of the table for a hash.
  @inlinable
  static func table(of hash: UInt32, among tableCount: Int) -> Int {
    let half = powerOfTwo(in: tableCount)
    let table = Int(hash) & (2 * half - 1)
    return table < tableCount ? table : table & (half - 1)
  }

  /// Moves half of the next table's slots to a new table.
  private mutating func divide() {
    let half = Self.powerOfTwo(in: tables.count)
    let parent = tables.count - half
    let whole = tables[parent]
    tables[parent] = SlotIndex()
    tables.append(SlotIndex())
    tables[parent].reserve(whole.count * 9 / 16)
    tables[parent + half].reserve(whole.count * 9 / 16)
    for word in whole.buckets where word != 0 {
      // The bit of the hash, which is in the upper half of the word.
      tables[Int(word >> 32) & half == 0 ? parent : parent + half].insert(word)
    }
  }

  /// Gives the entries of the last table back to the table that it was divided from.
  private mutating func join() {
    guard let last = tables.popLast() else { return }
    let parent = tables.count - Self.powerOfTwo(in: tables.count)
    let former = tables[parent]
    tables[parent] = SlotIndex()
    tables[parent].reserve((former.count + last.count) * 9 / 8)
    for table in [former, last] {
      for word in table.buckets where word != 0 { tables[parent].insert(word) }
    }
  }

  private mutating func reserve(_ capacity: Int) {
    while tables.count * Self.tableCount < capacity {
      tables += tables.map { _ in SlotIndex() }
    }
    for table in tables.indices { tables[table].reserve(capacity / tables.count * 9 / 8 + 8) }
  }
}
