/// The order by recency: the least recently used entry is evicted first.
@usableFromInline
struct RecencyOrder: Sendable {
  @usableFromInline var nodes: SlotNodes
  @usableFromInline var list = SlotList()

  @inlinable
  init(isWeighted: Bool) {
    nodes = SlotNodes(isWeighted: isWeighted)
  }

  @inlinable
  mutating func reserve(_ capacity: Int, expected: Int) {
    nodes.reserve(capacity)
  }

  @inlinable
  mutating func used(_ slot: Slot, _ hash: UInt32) {
    nodes.renew(slot, in: &list)
  }

  @inlinable
  mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int) {
    nodes.open(slot, hash, weight: weight)
    nodes.link(slot, in: &list)
  }

  @inlinable
  mutating func removed(_ slot: Slot) {
    nodes.unlink(slot, from: &list)
    nodes.free(slot)
  }

  /// Records the move of an entry to a free slot.
  @usableFromInline
  mutating func moved(_ slot: Slot, to place: Slot) {
    nodes.move(slot, to: place, in: &list)
  }

  /// Gives up the last slot, which is free.
  @usableFromInline
  mutating func removeLastSlot() {
    nodes.removeLast()
  }

  @inlinable
  mutating func reweighed(_ slot: Slot, weight: Int) {
    nodes.reweigh(slot, weight, in: &list)
    nodes.renew(slot, in: &list)
  }

  @inlinable
  mutating func chooseVictims(for weight: Int) -> Victims {
    Victims(list.oldest)
  }

  @inlinable
  func forEach(_ body: (Slot) -> Void) {
    nodes.forEach(in: list, body)
  }

  func next(after slot: Slot?) -> Slot {
    slot.map { nodes.newer(than: $0) } ?? list.oldest
  }
}
