/// A dictionary in tables that stay small, so that no change of it takes longer than that of one
/// table.
///
/// The tables are divided and joined as those of ``SlotTables``. One table is enough for a few
/// hundred keys; then no hash is computed but that of the dictionary.
@usableFromInline
package struct DividedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline package private(set) var tables: ContiguousArray<[Key: Value]> = [[:]]
  @usableFromInline package private(set) var count = 0

  /// The number of keys per table above which a table is divided; a table that is to be divided
  /// soon has up to twice as many.
  ///
  /// Measured: with a million objects as values, dividing one table takes up to 0.5 ms of the
  /// processor; with 2,048 keys a table 1.4 ms.
  @inlinable package static var tableCount: Int { 512 }

  @inlinable
  package init() {}

  /// The value of a key; assigning nil removes it.
  @inlinable
  package subscript(key: Key) -> Value? {
    get { tables[table(of: key)][key] }
    _modify {
      let table = table(of: key)
      let former = tables[table].count
      defer { noteChange(of: table, from: former) }
      yield &tables[table][key]
    }
  }

  @inlinable package var isEmpty: Bool { count == 0 }

  package var keys: some Sequence<Key> { tables.lazy.flatMap(\.keys) }

  @inlinable
  func table(of key: Key) -> Int {
    if tables.count == 1 { return 0 }
    return SlotTables.table(of: UInt32(truncatingIfNeeded: key.mixedHash), among: tables.count)
  }

  @inlinable
  mutating func noteChange(of table: Int, from former: Int) {
    let change = tables[table].count &- former
    if change == 0 { return }
    count &+= change
    if change > 0 {
      if count > tables.count &* Self.tableCount { divide() }
    } else if tables.count > 1, count &* 4 < tables.count &* Self.tableCount {
      join()
    }
  }

  /// Moves about half of the next table's keys to a new table.
  @inlinable
  @inline(never)
  mutating func divide() {
    let parent = tables.count - SlotTables.powerOfTwo(in: tables.count)
    let whole = exchange(&tables[parent], with: [:])
    tables.append([:])
    for table in [parent, tables.count - 1] {
      tables[table].reserveCapacity(whole.count * 9 / 16)
    }
    for (key, value) in whole { tables[table(of: key)][key] = value }
  }

  /// Gives the keys of the last table back to the table that it was divided from.
  @inlinable
  @inline(never)
  mutating func join() {
    guard let last = tables.popLast() else { return }
    let parent = tables.count - SlotTables.powerOfTwo(in: tables.count)
    tables[parent].reserveCapacity(tables[parent].count + last.count)
    for (key, value) in last { tables[parent][key] = value }
  }
}
