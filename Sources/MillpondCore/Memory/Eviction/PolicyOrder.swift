/// The order in which a policy evicts entries; pure, and without keys or values.
///
/// Entries are identified by their slots, keys by 32 bits of their hashes.
///
/// The order of the other policy stays empty.
@usableFromInline
package struct PolicyOrder: Sendable {
  @usableFromInline let isAdaptive: Bool

  /// Whether entries weigh their cost; otherwise each weighs one.
  @usableFromInline let isWeighted: Bool

  @usableFromInline var adaptive: AdaptiveOrder
  @usableFromInline var recency: RecencyOrder

  @usableFromInline
  package init(_ policy: EvictionPolicy, isWeighted: Bool) {
    self.isWeighted = isWeighted
    isAdaptive = policy != .leastRecentlyUsed
    adaptive = AdaptiveOrder(
      isWeighted: isWeighted, prefersSmall: policy == .adaptivePreferringSmall)
    recency = RecencyOrder(isWeighted: isWeighted)
  }

  /// The nodes of the policy's order; a copy, for checks.
  var nodes: SlotNodes { isAdaptive ? adaptive.nodes : recency.nodes }

  /// The slot for the next entry: a free one, or else the one behind the last.
  @inlinable package var nextSlot: Slot {
    isAdaptive ? adaptive.nodes.next : recency.nodes.next
  }

  // Always inlined, since a call would copy the whole order.
  @inlinable
  @inline(__always)
  package func hash(of slot: Slot) -> UInt32 {
    isAdaptive ? adaptive.nodes.hash(of: slot) : recency.nodes.hash(of: slot)
  }

  @inlinable
  package func weight(of slot: Slot) -> Int {
    isAdaptive ? adaptive.nodes.weight(of: slot) : recency.nodes.weight(of: slot)
  }

  /// The weight of all entries together.
  @usableFromInline package var totalWeight: Int {
    isAdaptive ? adaptive.totalWeight : recency.list.weight
  }

  /// Records a get of a key without an entry.
  @inlinable
  package mutating func missed(_ hash: UInt32) {
    if isAdaptive { adaptive.missed(hash) }
  }

  /// Records a use of an entry.
  @inlinable
  package mutating func used(_ slot: Slot, _ hash: UInt32) {
    if isAdaptive { adaptive.used(slot, hash) } else { recency.used(slot, hash) }
  }

  /// Prepares for `capacity` entries, which may become as many as `expected`.
  @usableFromInline
  package mutating func reserve(_ capacity: Int, expected: Int) {
    if isAdaptive {
      adaptive.reserve(capacity, expected: expected)
    } else {
      recency.reserve(capacity, expected: expected)
    }
  }

  /// Records a new entry.
  @usableFromInline
  package mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int) {
    if isAdaptive {
      adaptive.added(slot, hash, weight: weight)
    } else {
      recency.added(slot, hash, weight: weight)
    }
  }

  /// Adds an entry from an earlier run, as the newest one so far.
  package mutating func restored(_ slot: Slot, _ hash: UInt32, weight: Int) {
    if isAdaptive {
      adaptive.restored(slot, hash, weight: weight)
    } else {
      recency.added(slot, hash, weight: weight)
    }
  }

  /// Records that there was room for all new entries.
  @usableFromInline
  package mutating func settle() {
    if isAdaptive { adaptive.settle() }
  }

  /// Records the removal of an entry, whose slot is free then.
  @usableFromInline
  package mutating func removed(_ slot: Slot) {
    if isAdaptive { adaptive.removed(slot) } else { recency.removed(slot) }
  }

  /// Records a move of an entry to the end, without a use.
  package mutating func postponed(_ slot: Slot) {
    let (hash, weight) = (hash(of: slot), weight(of: slot))
    removed(slot)
    added(slot, hash, weight: weight)
  }

  /// Records a new weight of an entry.
  @usableFromInline
  package mutating func reweighed(_ slot: Slot, weight: Int) {
    if isAdaptive {
      adaptive.reweighed(slot, weight: weight)
    } else {
      recency.reweighed(slot, weight: weight)
    }
  }

  /// Whether a new value is worth the evictions that it needs.
  @usableFromInline
  package mutating func admits(_ hash: UInt32, weight: Int) -> Bool {
    !isAdaptive || adaptive.admits(hash, weight: weight)
  }

  /// Chooses the entries to evict for a value of this weight; none only if there are no entries.
  ///
  /// The caller has to remove each of them.
  @usableFromInline
  package mutating func chooseVictims(for weight: Int) -> Victims {
    isAdaptive ? adaptive.chooseVictims(for: weight) : recency.chooseVictims(for: weight)
  }

  /// Calls `body` with all entries, in the order of eviction as far as there is one.
  @usableFromInline
  package func forEach(_ body: (Slot) -> Void) {
    if isAdaptive { adaptive.forEach(body) } else { recency.forEach(body) }
  }

  /// Returns the entry after `slot` in the order of ``forEach(_:)``, or the first one; nil at the
  /// end.
  ///
  /// For walks in steps: for a slot that has moved meanwhile, returns the entry after its new
  /// position.
  package func next(after slot: Slot?) -> Slot? {
    let next = isAdaptive ? adaptive.next(after: slot) : recency.next(after: slot)
    return next < 0 ? nil : next
  }

  /// Whether so few of the slots are in use that some are to be given up.
  @inlinable package var isSparse: Bool {
    isAdaptive ? adaptive.nodes.isSparse : recency.nodes.isSparse
  }

  /// Whether a slot has no entry.
  package func isFree(_ slot: Slot) -> Bool {
    isAdaptive ? adaptive.nodes.isFree(slot) : recency.nodes.isFree(slot)
  }

  /// Gives up the last slot; its entry, if it has one, moves to a free slot first.
  ///
  /// - Returns: The last slot, and the new slot of its entry; the same if it had none.
  package mutating func removeLastSlot() -> (last: Slot, place: Slot) {
    let last = Slot(isAdaptive ? adaptive.nodes.count : recency.nodes.count) - 1
    var place = last
    if !isFree(last) {
      place = nextSlot
      if isAdaptive { adaptive.moved(last, to: place) } else { recency.moved(last, to: place) }
    }
    if isAdaptive { adaptive.removeLastSlot() } else { recency.removeLastSlot() }
    return (last, place)
  }

  /// Returns a copy without entries, which keeps the learned share of the window.
  package func emptied() -> PolicyOrder {
    var order = self
    order.adaptive = AdaptiveOrder(isWeighted: isWeighted, prefersSmall: adaptive.prefersSmall)
    order.adaptive.share = adaptive.share
    order.recency = RecencyOrder(isWeighted: isWeighted)
    return order
  }

  /// Takes over an entry of another order as the newest one, with its history.
  @usableFromInline
  mutating func adopt(_ slot: Slot, from other: PolicyOrder, _ theirs: Slot) {
    let (hash, weight) = (other.hash(of: theirs), other.weight(of: theirs))
    if isAdaptive {
      adaptive.adopt(slot, hash, weight: weight, from: other.adaptive, theirs)
    } else {
      recency.added(slot, hash, weight: weight)
    }
  }
}
