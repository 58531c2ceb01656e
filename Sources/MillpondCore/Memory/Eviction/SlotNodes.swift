/// The hash of an entry, and its neighbours in its list.
@usableFromInline
@frozen
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
@frozen
struct SlotList: Sendable {
  @usableFromInline var newest: Slot = -1
  @usableFromInline var oldest: Slot = -1
  @usableFromInline var count = 0
  @usableFromInline var weight = 0

  @inlinable
  init() {}
}

/// The nodes of all slots, side by side, and the list of the free ones.
///
/// Without costs each entry weighs one.
@usableFromInline
@frozen
struct SlotNodes: Sendable {
  @usableFromInline var nodes = ChunkedArray<SlotNode>()
  @usableFromInline var weights = ChunkedArray<Int>()
  @usableFromInline let isWeighted: Bool

  /// The slot that was freed last, which leads to the other free ones; none is -1.
  @usableFromInline var firstFree: Slot = -1
  @usableFromInline private(set) var freeCount = 0

  @inlinable
  init(isWeighted: Bool) {
    self.isWeighted = isWeighted
  }

  /// The number of slots, free ones included.
  @inlinable
  var count: Int {
    nodes.count
  }

  /// Whether so few of the slots are in use that some are to be given up.
  @inlinable
  var isSparse: Bool {
    nodes.count > Self.fewSlots && freeCount > nodes.count / 4 * 3
  }

  /// The number of slots that are never given up.
  @inlinable static var fewSlots: Int { 1_024 }

  /// The slot for the next entry: a free one, or else the one behind the last.
  @inlinable
  var next: Slot {
    firstFree >= 0 ? firstFree : Slot(nodes.count)
  }

  @inlinable
  mutating func reserve(_ capacity: Int) {
    nodes.reserve(capacity)
    if isWeighted { weights.reserve(capacity) }
  }

  /// Creates a node that is in no list.
  @inlinable
  mutating func open(_ slot: Slot, _ hash: UInt32, weight: Int) {
    if Int(slot) < nodes.count { takeFree(slot) }
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
    let node = nodes.pointer(to: Int(slot))
    node.pointee.older = newest
    node.pointee.newer = -1
    if newest >= 0 { nodes[newest].newer = slot } else { list.oldest = slot }
    list.newest = slot
    list.count += 1
    list.weight += weight(of: slot)
  }

  @inlinable
  mutating func unlink(_ slot: Slot, from list: inout SlotList) {
    let node = nodes.pointer(to: Int(slot)).pointee
    let (older, newer) = (node.older, node.newer)
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

// MARK: - Free slots

extension SlotNodes {
  /// Whether a slot has no entry.
  @usableFromInline
  func isFree(_ slot: Slot) -> Bool {
    nodes[slot].newer < -1
  }

  /// The free slots, the next one first; one more than their count if the list does not end there.
  var freeSlots: [Slot] {
    var slots: [Slot] = []
    var slot = firstFree
    while slot >= 0, slots.count <= freeCount {
      slots.append(slot)
      slot = Self.link(nodes[slot].newer)
    }
    return slots
  }

  /// Frees the slot of a node that is in no list.
  @usableFromInline
  mutating func free(_ slot: Slot) {
    nodes[slot].newer = Self.link(firstFree)
    nodes[slot].older = -1
    if firstFree >= 0 { nodes[firstFree].older = slot }
    firstFree = slot
    freeCount += 1
  }

  @usableFromInline
  mutating func takeFree(_ slot: Slot) {
    assert(isFree(slot))
    let (next, previous) = (Self.link(nodes[slot].newer), nodes[slot].older)
    if previous >= 0 { nodes[previous].newer = Self.link(next) } else { firstFree = next }
    if next >= 0 { nodes[next].older = previous }
    freeCount -= 1
  }

  /// Moves a node to a free slot, which frees its own.
  mutating func move(_ slot: Slot, to place: Slot, in list: inout SlotList) {
    takeFree(place)
    let (older, newer) = (nodes[slot].older, nodes[slot].newer)
    nodes[place] = nodes[slot]
    if isWeighted { weights[place] = weights[slot] }
    if older >= 0 { nodes[older].newer = place } else { list.oldest = place }
    if newer >= 0 { nodes[newer].older = place } else { list.newest = place }
    free(slot)
  }

  /// Gives up the last slot, which is free.
  mutating func removeLast() {
    takeFree(Slot(nodes.count - 1))
    nodes.removeLast()
    if isWeighted { weights.removeLast() }
  }

  /// Converts the next free slot to a link below -1, by which a free slot is recognised, and back.
  private static func link(_ slot: Slot) -> Slot {
    -3 - slot
  }
}

/// The entries to evict: usually one or none.
@usableFromInline
@frozen
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
