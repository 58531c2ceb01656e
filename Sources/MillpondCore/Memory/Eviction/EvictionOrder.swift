/// The order in which entries are evicted; pure, and without keys or values.
///
/// Entries are identified by their slots, keys by 32 bits of their hashes.
@usableFromInline
protocol EvictionOrder: Sendable {
  var nodes: SlotNodes { get }

  /// Prepares for `capacity` entries, which may become as many as `expected`.
  mutating func reserve(_ capacity: Int, expected: Int)

  /// Records a get of a key without an entry.
  mutating func missed(_ hash: UInt32)

  /// Records a use of an entry.
  mutating func used(_ slot: Slot, _ hash: UInt32)

  /// Records a new entry.
  mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int)

  /// Records that there was room for all new entries.
  mutating func settle()

  /// Records the removal of an entry, whose slot is free then.
  mutating func removed(_ slot: Slot)

  /// Records the move of an entry to a free slot.
  mutating func moved(_ slot: Slot, to place: Slot)

  /// Gives up the last slot, which is free.
  mutating func removeLastSlot()

  /// Records a new weight of an entry.
  mutating func reweighed(_ slot: Slot, weight: Int)

  /// Whether a new value is worth the evictions that it needs.
  mutating func admits(_ hash: UInt32, weight: Int) -> Bool

  /// Chooses the entries to evict for a value of this weight; none only if there are no entries.
  ///
  /// The caller has to remove each of them.
  mutating func chooseVictims(for weight: Int) -> Victims

  /// Calls `body` with all entries, in the order of eviction as far as there is one.
  func forEach(_ body: (Slot) -> Void)
}

/// The entries to evict: usually one or none.
@usableFromInline
package struct Victims: Sendable {
  @usableFromInline package var first: Slot
  @usableFromInline package var others: ContiguousArray<Slot> = []

  @inlinable
  init(_ first: Slot = -1) {
    self.first = first
  }

  @inlinable
  package var isEmpty: Bool {
    first < 0
  }

  @inlinable
  mutating func append(_ slot: Slot) {
    if first < 0 { first = slot } else { others.append(slot) }
  }
}
