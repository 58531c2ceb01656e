/// Who has to go when there is no room: pure, and without keys or values.
///
/// Entries are known by their slots, keys by 32 bits of their hashes.
@usableFromInline
protocol EvictionOrder: Sendable {
  /// What is known of each slot.
  var nodes: SlotNodes { get }

  /// Prepares for so many entries, and tells how many it may become.
  mutating func reserve(_ capacity: Int, expected: Int)

  /// A key was asked for that has no entry.
  mutating func missed(_ hash: UInt32)

  /// An entry was asked for.
  mutating func used(_ slot: Slot, _ hash: UInt32)

  /// There is an entry more.
  mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int)

  /// There was room for all that were added.
  mutating func settle()

  /// An entry is there no more.
  mutating func removed(_ slot: Slot)

  /// An entry weighs something else.
  mutating func reweighed(_ slot: Slot, weight: Int)

  /// Whether a newcomer, for which others would have to go, is worth it.
  mutating func admits(_ hash: UInt32, weight: Int) -> Bool

  /// Who should go first to make room for so much; none only if there is nobody.
  ///
  /// They are expected to be removed, each of them.
  mutating func chooseVictims(for weight: Int) -> Victims

  /// Calls with all entries, those that would go first at the beginning, as far as there is an order.
  func forEach(_ body: (Slot) -> Void)
}

/// Who has to go: mostly one, or nobody.
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
