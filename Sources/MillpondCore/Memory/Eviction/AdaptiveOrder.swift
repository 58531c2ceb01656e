/// The adaptive order: W-TinyLFU with a window whose share follows the density of hits.
///
/// New entries enter the window, a queue. To stay, its oldest entry has to be used more often than
/// the entries that would have to be evicted for it from the main part. That has two queues:
/// entries on probation, and protected ones, which were used while on probation. A hit moves
/// nothing but sets a bit; the queues are put in order when room is needed.
///
/// With weights, a candidate has to be used more often than all the entries together whose room it
/// would take, so that a large one has to be worth its room.
///
/// - Source: TinyLFU (Einziger, Friedman, Manes 2017), the weights after Einziger, Eytan, Friedman,
///   Manes 2021; the steering is ``AdaptiveWindow``'s.
@usableFromInline
struct AdaptiveOrder: Sendable {
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
  let prefersSmall: Bool

  @usableFromInline
  init(isWeighted: Bool, prefersSmall: Bool) {
    nodes = SlotNodes(isWeighted: isWeighted)
    self.prefersSmall = prefersSmall
  }

  @usableFromInline
  mutating func reserve(_ capacity: Int, expected: Int) {
    nodes.reserve(capacity)
    states.reserve(capacity)
    sketch.grow(toEntries: capacity, expected: expected)
  }

  @inlinable
  mutating func missed(_ hash: UInt32) {
    sketch.add(hash)
    share.misses &+= 1
  }

  @inlinable
  mutating func used(_ slot: Slot, _ hash: UInt32) {
    let state = states[slot]
    if state & Self.list == Self.inWindow { share.windowHits &+= 1 } else { share.mainHits &+= 1 }
    if state & Self.isUsed == 0 {
      states[slot] = state | Self.isUsed
      sketch.add(hash)
    }
  }

  @usableFromInline
  mutating func added(_ slot: Slot, _ hash: UInt32, weight: Int) {
    // A value that was stored without a get before has never been counted.
    sketch.addFirst(hash)
    nodes.open(slot, hash, weight: weight)
    states.put(0, at: slot)
    nodes.link(slot, in: &window)
    if share.isDue(entries: count) {
      share.steer(windowWeight: window.weight, mainWeight: mainWeight)
      settle()
    } else if isSettling {
      settle()
    }
  }

  /// Adds an entry that was stored in an earlier run: it has no history, but skips the window.
  mutating func restored(_ slot: Slot, _ hash: UInt32, weight: Int) {
    nodes.open(slot, hash, weight: weight)
    states.put(Self.inProbation, at: slot)
    nodes.link(slot, in: &probation)
  }

  /// Moves entries that exceed the window to the main part, without a contest; at most 128 at a
  /// time, and the others at the next writes.
  @usableFromInline
  mutating func settle() {
    let limit = windowLimit
    for _ in 0..<Self.settlingCount {
      isSettling = window.weight > limit && window.count > 1
      if !isSettling { return }
      let oldest = window.oldest
      set(oldest, Self.inProbation)
      nodes.move(oldest, from: &window, to: &probation)
    }
  }

  @usableFromInline
  mutating func removed(_ slot: Slot) {
    withList(states[slot]) { $0.unlink(slot, from: &$1) }
    nodes.free(slot)
  }

  /// Records the move of an entry to a free slot.
  @usableFromInline
  mutating func moved(_ slot: Slot, to place: Slot) {
    states[place] = states[slot]
    withList(states[slot]) { $0.move(slot, to: place, in: &$1) }
  }

  /// Gives up the last slot, which is free.
  @usableFromInline
  mutating func removeLastSlot() {
    nodes.removeLast()
    states.removeLast()
    if states.count.isMultiple(of: ChunkedArray<UInt8>.chunkLength) {
      sketch.shrink(toEntries: states.count)
    } else if sketch.due == 0 {
      // Without other uses the change of size would not end.
      sketch.work()
    }
  }

  @usableFromInline
  mutating func reweighed(_ slot: Slot, weight: Int) {
    withList(states[slot]) { $0.reweigh(slot, weight, in: &$1) }
  }

  /// Admits every value that fits into the window; a larger one has to be used more often than the
  /// entries that would be evicted for it.
  @usableFromInline
  mutating func admits(_ hash: UInt32, weight: Int) -> Bool {
    if !nodes.isWeighted { return true }
    if weight <= max(windowLimit, totalWeight / Self.largeShare) { return true }
    return contest(max(1, sketch.frequency(hash)), weight) != nil
  }

  @usableFromInline
  mutating func chooseVictims(for weight: Int) -> Victims {
    if isSettling { settle() }
    let candidate = window.oldest
    let isMainEmpty = probation.count + protected.count == 0
    guard candidate >= 0, isMainEmpty || !isSettling && window.weight > windowLimit - weight else {
      return Victims(mainVictim())
    }
    let hash = nodes.hash(of: candidate)
    guard let losers = contest(sketch.frequency(hash), nodes.weight(of: candidate)) else {
      return Victims(candidate)
    }
    set(candidate, Self.inProbation)
    nodes.move(candidate, from: &window, to: &probation)
    return losers
  }

  /// Takes over an entry of another order, into the same list.
  mutating func adopt(
    _ slot: Slot, _ hash: UInt32, weight: Int, from other: AdaptiveOrder, _ theirs: Slot
  ) {
    let known = other.sketch.frequency(hash) - sketch.frequency(hash)
    for _ in 0..<max(0, known) { sketch.add(hash) }
    nodes.open(slot, hash, weight: weight)
    let state = other.states[theirs]
    states.put(state, at: slot)
    withList(state) { $0.link(slot, in: &$1) }
  }

  @usableFromInline
  func forEach(_ body: (Slot) -> Void) {
    for list in [probation, protected, window] { nodes.forEach(in: list, body) }
  }

  func next(after slot: Slot?) -> Slot {
    var state: UInt8?
    if let slot {
      let newer = nodes.newer(than: slot)
      if newer >= 0 { return newer }
      state = states[slot] & Self.list
    }
    if state == nil, probation.oldest >= 0 { return probation.oldest }
    if state == nil || state == Self.inProbation, protected.oldest >= 0 { return protected.oldest }
    return state == Self.inWindow ? -1 : window.oldest
  }
}

extension AdaptiveOrder {
  @usableFromInline static var inWindow: UInt8 { 0 }
  static var inProbation: UInt8 { 1 }
  static var inProtected: UInt8 { 2 }
  @usableFromInline static var list: UInt8 { 3 }
  @usableFromInline static var isUsed: UInt8 { 4 }

  /// The greatest number of entries that are moved out of the window at a time.
  static var settlingCount: Int { 128 }

  /// The divisor of the total weight above which a value is large.
  static var largeShare: Int { 4 }

  var count: Int {
    window.count + probation.count + protected.count
  }

  var mainWeight: Int {
    probation.weight &+ protected.weight
  }

  var totalWeight: Int {
    window.weight &+ mainWeight
  }

  /// The greatest weight of the window, which always has room for one entry.
  private var windowLimit: Int {
    max(1, Int(share.share * Double(totalWeight)))
  }

  /// Runs `body` with the nodes and the list of a state.
  private mutating func withList(
    _ state: UInt8, _ body: (inout SlotNodes, inout SlotList) -> Void
  ) {
    switch state & Self.list {
    case Self.inWindow: body(&nodes, &window)
    case Self.inProbation: body(&nodes, &probation)
    default: body(&nodes, &protected)
    }
  }

  /// Returns the entries on probation that would be evicted for a candidate of this weight, if it
  /// is used more often than they are together.
  private mutating func contest(_ frequency: Int, _ weight: Int) -> Victims? {
    let first = mainVictim()
    guard first >= 0 else { return nil }
    var losers = Victims(first)
    var missing = weight - nodes.weight(of: first)
    var rivals = sketch.frequency(nodes.hash(of: first))
    var slot = nodes.newer(than: first)
    while missing > 0, slot >= 0, rivals < frequency {
      losers.append(slot)
      missing -= nodes.weight(of: slot)
      rivals += sketch.frequency(nodes.hash(of: slot))
      slot = nodes.newer(than: slot)
    }
    return frequency > rivals ? losers : nil
  }

  /// Returns the oldest entry on probation, or else the oldest protected one; -1 if both lists are
  /// empty.
  ///
  /// Entries used since they were last examined get another chance, at most 128 at a time: then the
  /// oldest is returned although it was used.
  private mutating func mainVictim() -> Slot {
    var chances = Self.chances
    while probation.count > 0 {
      let oldest = probation.oldest
      if !takeChance(of: oldest, &chances) {
        return prefersSmall ? leastDense(from: oldest) : oldest
      }
      set(oldest, Self.inProtected)
      nodes.move(oldest, from: &probation, to: &protected)
      demote(&chances)
    }
    while protected.count > 0 {
      let oldest = protected.oldest
      if !takeChance(of: oldest, &chances) { return oldest }
      nodes.renew(oldest, in: &protected)
    }
    return -1
  }

  /// Returns the one of the eight oldest entries on probation with the fewest uses for its weight.
  private func leastDense(from oldest: Slot) -> Slot {
    var (worst, lowest) = (oldest, Double.infinity)
    var slot = oldest
    for _ in 0..<8 where slot >= 0 {
      let frequency = Double(sketch.frequency(nodes.hash(of: slot)))
      let density = frequency / max(1, Double(nodes.weight(of: slot)))
      if density < lowest { (worst, lowest) = (slot, density) }
      slot = nodes.newer(than: slot)
    }
    return worst
  }

  /// Puts the oldest protected entries back on probation while more than seven tenths of the main
  /// part are protected.
  private mutating func demote(_ chances: inout Int) {
    while protected.weight > mainWeight / 10 * 7 + mainWeight % 10 * 7 / 10, protected.count > 0 {
      let oldest = protected.oldest
      if takeChance(of: oldest, &chances) {
        nodes.renew(oldest, in: &protected)
      } else {
        set(oldest, Self.inProbation)
        nodes.move(oldest, from: &protected, to: &probation)
      }
    }
  }

  private mutating func set(_ slot: Slot, _ list: UInt8) {
    states[slot] = list
  }

  /// Whether an entry gets another chance: it was used since it was last examined, and the chances
  /// are not used up.
  private mutating func takeChance(of slot: Slot, _ chances: inout Int) -> Bool {
    defer { states[slot] &= ~Self.isUsed }
    chances -= 1
    return chances >= 0 && states[slot] & Self.isUsed != 0
  }

  /// The greatest number of entries that get another chance at a time.
  static var chances: Int { 128 }
}
