/// The hash of an entry, and its neighbours in its list.
@usableFromInline
struct SlotNode: Sendable, BitwiseCopyable {
  @usableFromInline var newer: Slot
  @usableFromInline var older: Slot
  @usableFromInline var hash: UInt32

  @inlinable
  init(hash: UInt32) {
    newer = -1
    older = -1
    self.hash = hash
  }
}

/// A linked list of slots, with its count and weight.
@usableFromInline
struct SlotList: Sendable {
  @usableFromInline var newest: Slot = -1
  @usableFromInline var oldest: Slot = -1
  @usableFromInline var count = 0
  @usableFromInline var weight = 0

  @inlinable
  init() {}
}

/// The nodes of all slots, side by side.
///
/// Without costs each entry weighs one.
@usableFromInline
struct SlotNodes: Sendable {
  @usableFromInline var nodes = Column<SlotNode>()
  @usableFromInline var weights = Column<Int>()
  @usableFromInline let isWeighted: Bool

  @inlinable
  init(isWeighted: Bool) {
    self.isWeighted = isWeighted
  }

  @inlinable
  mutating func reserve(_ capacity: Int) {
    nodes.reserve(capacity)
    if isWeighted { weights.reserve(capacity) }
  }

  /// Creates a node that is in no list.
  @inlinable
  mutating func open(_ slot: Slot, _ hash: UInt32, weight: Int) {
    nodes.put(SlotNode(hash: hash), at: slot)
    if isWeighted { weights.put(weight, at: slot) }
  }

  @inlinable
  func hash(of slot: Slot) -> UInt32 {
    nodes[slot].hash
  }

  @inlinable
  func weight(of slot: Slot) -> Int {
    isWeighted ? weights[slot] : 1
  }

  @inlinable
  func newer(than slot: Slot) -> Slot {
    nodes[slot].newer
  }

  /// Adds the slot at the newest end.
  @inlinable
  mutating func link(_ slot: Slot, in list: inout SlotList) {
    let newest = list.newest
    nodes[slot].older = newest
    nodes[slot].newer = -1
    if newest >= 0 { nodes[newest].newer = slot } else { list.oldest = slot }
    list.newest = slot
    list.count += 1
    list.weight += weight(of: slot)
  }

  @inlinable
  mutating func unlink(_ slot: Slot, from list: inout SlotList) {
    let (older, newer) = (nodes[slot].older, nodes[slot].newer)
    if older >= 0 { nodes[older].newer = newer } else { list.oldest = newer }
    if newer >= 0 { nodes[newer].older = older } else { list.newest = older }
    list.count -= 1
    list.weight -= weight(of: slot)
  }

  @inlinable
  mutating func move(_ slot: Slot, from: inout SlotList, to: inout SlotList) {
    unlink(slot, from: &from)
    link(slot, in: &to)
  }

  @inlinable
  mutating func reweigh(_ slot: Slot, _ weight: Int, in list: inout SlotList) {
    list.weight += weight - weights[slot]
    weights[slot] = weight
  }

  /// Calls `body` with each slot of a list, oldest first.
  @inlinable
  func forEach(in list: SlotList, _ body: (Slot) -> Void) {
    var slot = list.oldest
    while slot >= 0 {
      let next = newer(than: slot)
      body(slot)
      slot = next
    }
  }

  /// Makes the slot the newest of its list.
  @inlinable
  mutating func renew(_ slot: Slot, in list: inout SlotList) {
    if slot == list.newest { return }
    unlink(slot, from: &list)
    link(slot, in: &list)
  }
}
