/// The order in which a policy evicts entries; pure, and without keys or values.
///
/// Entries are identified by their slots, keys by 32 bits of their hashes.
///
/// The adaptive order is W-TinyLFU with a window whose share follows the density of hits. New
/// entries enter the window, a queue. To stay, its oldest entry has to be used more often than the
/// entries that would have to be evicted for it from the main part. That has two queues: entries on
/// probation, and protected ones, which were used while on probation. A hit moves nothing but sets
/// a bit; the queues are put in order when room is needed.
///
/// With weights, a candidate has to be used more often than all the entries together whose room it
/// would take, so that a large one has to be worth its room.
///
/// The order of the least recently used has all entries in the window, and a use makes an entry the
/// newest there; it counts no uses.
///
/// - Source: TinyLFU (Einziger, Friedman, Manes 2017), the weights after Einziger, Eytan, Friedman,
///   Manes 2021; the steering is ``AdaptiveWindow``'s.
@usableFromInline
package struct PolicyOrder: Sendable {
  @usableFromInline let isAdaptive: Bool
  let prefersSmall: Bool
  @usableFromInline var nodes: SlotNodes

  /// For each slot, its list, and whether it was used since it was last examined.
  @usableFromInline var states = ChunkedArray<UInt8>()

  @usableFromInline var window = SlotList()
  @usableFromInline var probation = SlotList()
  @usableFromInline var protected = SlotList()
  @usableFromInline var sketch = FrequencySketch()
  @usableFromInline var share = AdaptiveWindow()

  /// Whether entries that exceed the window are being moved, a few at each write.
  @usableFromInline var isSettling = false

  @usableFromInline
  package init(_ policy: EvictionPolicy, isWeighted: Bool) {
    self.init(
      isAdaptive: policy != .leastRecentlyUsed,
      prefersSmall: policy == .adaptivePreferringSmall, isWeighted: isWeighted)
  }

  private init(isAdaptive: Bool, prefersSmall: Bool, isWeighted: Bool) {
    self.isAdaptive = isAdaptive
    self.prefersSmall = prefersSmall
    nodes = SlotNodes(isWeighted: isWeighted)
  }

  /// Returns a copy without entries, which keeps the learned share of the window.
  package func emptied() -> PolicyOrder {
    var order = PolicyOrder(
      isAdaptive: isAdaptive, prefersSmall: prefersSmall, isWeighted: isWeighted)
    order.share = share
    return order
  }

  /// Prepares for `capacity` entries, which may become as many as `expected`.
  @usableFromInline
  package mutating func reserve(_ capacity: Int, expected: Int) {
    nodes.reserve(capacity)
    states.reserve(capacity)
    if isAdaptive { sketch.grow(toEntries: capacity, expected: expected) }
  }

  // MARK: Uses

  /// Records a get of a key without an entry.
  @inlinable
  package mutating func missed(_ hash: UInt32) {
    guard isAdaptive else { return }
    sketch.add(hash)
    share.misses &+= 1
  }

  /// Records a use of an entry.
  @inlinable
  @inline(__always)
  package mutating func used(_ slot: Slot, _ hash: UInt32) {
    if !isAdaptive {
      // A copy: with library evolution, other modules can't know that both are stored apart.
      var order = window
      nodes.renew(slot, in: &order)
      window = order
      return
    }
    let state = states[slot]
    if state & Self.list == Self.inWindow { share.windowHits &+= 1 } else { share.mainHits &+= 1 }
    if state & Self.isUsed == 0 {
      states[slot] = state | Self.isUsed
      sketch.add(hash)
    }
  }

  // MARK: Entries

  /// Records a new entry.
  @usableFromInline
  package mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int) {
    nodes.open(slot, hash, weight: weight)
    states.put(Self.inWindow, at: slot)
    nodes.link(slot, in: &window)
    if !isAdaptive { return }
    // A value that was stored without a get before has never been counted.
    sketch.addFirst(hash)
    if share.isDue(entries: count) {
      share.steer(windowWeight: window.weight, mainWeight: mainWeight)
      settle()
    } else if isSettling {
      settle()
    }
  }

  /// Adds an entry from an earlier run, as the newest one so far.
  ///
  /// It has no history, but skips the window of the adaptive order.
  package mutating func restored(_ slot: Slot, _ hash: UInt32, weight: Int) {
    guard isAdaptive else { return added(slot, hash, weight: weight) }
    nodes.open(slot, hash, weight: weight)
    states.put(Self.inProbation, at: slot)
    nodes.link(slot, in: &probation)
  }

  /// Takes over an entry of another order of the same policy, with its history, as the newest one
  /// of its list.
  @usableFromInline
  package mutating func adopt(
    _ slot: Slot, _ hash: UInt32, from other: PolicyOrder, _ theirs: Slot
  ) {
    let weight = other.weight(of: theirs)
    let known = other.sketch.frequency(hash) - sketch.frequency(hash)
    for _ in 0..<max(0, known) { sketch.add(hash) }
    nodes.open(slot, hash, weight: weight)
    let state = other.states[theirs]
    states.put(state, at: slot)
    withList(state) { $0.link(slot, in: &$1) }
  }

  /// Records that there was room for all new entries.
  ///
  /// Moves those that exceed the window to the main part, without a contest; at most 128 at a time,
  /// and the others at the next writes.
  @usableFromInline
  package mutating func settle() {
    guard isAdaptive else { return }
    let limit = windowLimit
    for _ in 0..<Self.settlingCount {
      isSettling = window.weight > limit && window.count > 1
      if !isSettling { return }
      let oldest = window.oldest
      states[oldest] = Self.inProbation
      nodes.move(oldest, from: &window, to: &probation)
    }
  }

  /// Records a new weight of an entry, which is a use unless the order is adaptive.
  @usableFromInline
  package mutating func reweighed(_ slot: Slot, weight: Int) {
    withList(states[slot]) { $0.reweigh(slot, weight, in: &$1) }
    if !isAdaptive { nodes.renew(slot, in: &window) }
  }

  /// Records a move of an entry to the end, without a use.
  package mutating func postponed(_ slot: Slot) {
    let (hash, weight) = (hash(of: slot), weight(of: slot))
    removed(slot)
    added(slot, hash, weight: weight)
  }

  /// Records the removal of an entry, whose slot is free then.
  @usableFromInline
  package mutating func removed(_ slot: Slot) {
    withList(states[slot]) { $0.unlink(slot, from: &$1) }
    nodes.free(slot)
  }

  /// Runs `body` with the nodes and the list of a state.
  mutating func withList(_ state: UInt8, _ body: (inout SlotNodes, inout SlotList) -> Void) {
    switch state & Self.list {
    case Self.inWindow: body(&nodes, &window)
    case Self.inProbation: body(&nodes, &probation)
    default: body(&nodes, &protected)
    }
  }
}

extension PolicyOrder {
  @usableFromInline static var inWindow: UInt8 { 0 }
  static var inProbation: UInt8 { 1 }
  static var inProtected: UInt8 { 2 }
  @usableFromInline static var list: UInt8 { 3 }
  @usableFromInline static var isUsed: UInt8 { 4 }

  /// The greatest number of entries that are moved out of the window at a time.
  static var settlingCount: Int { 128 }

  /// Whether entries weigh their cost; otherwise each weighs one.
  @inlinable var isWeighted: Bool { nodes.isWeighted }

  /// The slot for the next entry: a free one, or else the one behind the last.
  @inlinable package var nextSlot: Slot { nodes.next }

  /// Whether a slot has no entry.
  package func isFree(_ slot: Slot) -> Bool {
    nodes.isFree(slot)
  }

  // Always inlined, since a call would copy the whole order.
  @inlinable
  @inline(__always)
  package func hash(of slot: Slot) -> UInt32 {
    nodes.hash(of: slot)
  }

  @inlinable
  package func weight(of slot: Slot) -> Int {
    nodes.weight(of: slot)
  }

  var count: Int {
    window.count + probation.count + protected.count
  }

  var mainWeight: Int {
    probation.weight &+ protected.weight
  }

  /// The weight of all entries together.
  @usableFromInline package var totalWeight: Int {
    window.weight &+ mainWeight
  }

  /// The greatest weight of the window, which always has room for one entry.
  var windowLimit: Int {
    max(1, Int(share.share * Double(totalWeight)))
  }
}
