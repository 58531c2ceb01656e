/// What is asked for often stays: W-TinyLFU with a window that is steered by the density of hits.
///
/// New entries enter the window, a queue. The oldest of it must then be asked for more often than
/// whoever would have to go for it from the main part, which has two queues: entries on probation,
/// and protected ones, which were used while on probation. A hit moves nothing, it sets a bit; the
/// queues are put in order when room is needed.
///
/// Where entries have weights, a candidate has to be asked for more often than all together whose
/// room it would take, so that a large one has to be worth its room.
///
/// - Source: TinyLFU (Einziger, Friedman, Manes 2017), the weights after Einziger, Eytan, Friedman,
///   Manes 2021; the steering is ``WindowShare``'s.
@usableFromInline
struct AdaptiveOrder: EvictionOrder {
  @usableFromInline var nodes: SlotNodes

  /// For each slot, the list that it is in, and whether it has been used since it was last looked at.
  @usableFromInline var states = Column<UInt8>()

  @usableFromInline var window = SlotList()
  @usableFromInline var probation = SlotList()
  @usableFromInline var protected = SlotList()
  @usableFromInline var sketch = FrequencySketch()
  @usableFromInline var share = WindowShare()
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
    // Who is told without having been asked for has never been counted.
    sketch.addFirst(hash)
    nodes.open(slot, hash, weight: weight)
    states.put(0, at: slot)
    nodes.link(slot, in: &window)
    if share.isDue(entries: count) {
      share.steer(windowWeight: window.weight, mainWeight: mainWeight)
      settle()
    }
  }

  /// Takes an entry in that has been worth its room before: nothing is known of it, but it is no
  /// newcomer.
  mutating func restored(_ slot: Slot, _ hash: UInt32, weight: Int) {
    nodes.open(slot, hash, weight: weight)
    states.put(Self.inProbation, at: slot)
    nodes.link(slot, in: &probation)
  }

  /// Moves what is too much for the window to the main part, without contest.
  @usableFromInline
  mutating func settle() {
    let limit = windowLimit
    while window.weight > limit, window.count > 1 {
      let oldest = window.oldest
      set(oldest, Self.inProbation)
      nodes.move(oldest, from: &window, to: &probation)
    }
  }

  @usableFromInline
  mutating func removed(_ slot: Slot) {
    withList(states[slot]) { $0.unlink(slot, from: &$1) }
  }

  @usableFromInline
  mutating func reweighed(_ slot: Slot, weight: Int) {
    withList(states[slot]) { $0.reweigh(slot, weight, in: &$1) }
  }

  /// Whoever fits into the window is; a larger one has to be asked for more often than those who
  /// would have to go.
  @usableFromInline
  mutating func admits(_ hash: UInt32, weight: Int) -> Bool {
    if !nodes.isWeighted { return true }
    if weight <= max(windowLimit, totalWeight / Self.largeShare) { return true }
    return contest(max(1, sketch.frequency(hash)), weight) != nil
  }

  @usableFromInline
  mutating func chooseVictims(for weight: Int) -> Victims {
    let candidate = window.oldest
    let isMainEmpty = probation.count + protected.count == 0
    guard candidate >= 0, isMainEmpty || window.weight > windowLimit - weight else {
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

  /// What weighs more than this part of the whole is large.
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

  /// What the window may weigh; it always has room for one entry.
  private var windowLimit: Int {
    max(1, Int(share.share * Double(totalWeight)))
  }

  /// Runs `body` with the nodes and the list that a state means.
  private mutating func withList(
    _ state: UInt8, _ body: (inout SlotNodes, inout SlotList) -> Void
  ) {
    switch state & Self.list {
    case Self.inWindow: body(&nodes, &window)
    case Self.inProbation: body(&nodes, &probation)
    default: body(&nodes, &protected)
    }
  }

  /// Those on probation who would have to go for a candidate of so much weight, if it is asked for more
  /// often than they are together.
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

  /// The oldest on probation that has not been used; the others of it get on.
  ///
  /// Where all have been used, the search is short, and the oldest goes nevertheless.
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

  /// Of the eight oldest on probation the one that is asked for the least often for its weight.
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

  /// Sends the oldest back on probation while more than seven tenths of the main part is protected.
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

  /// Whether an entry gets another chance: it has been used since it was last examined, and not too many
  /// others have got one.
  private mutating func takeChance(of slot: Slot, _ chances: inout Int) -> Bool {
    defer { states[slot] &= ~Self.isUsed }
    chances -= 1
    return chances >= 0 && states[slot] & Self.isUsed != 0
  }

  /// The greatest number of entries that get another chance at a time.
  static var chances: Int { 128 }
}
