extension PolicyOrder {
  /// Whether a new value is worth the evictions that it needs.
  ///
  /// The adaptive order admits every value that fits into the window; a larger one has to be used
  /// more often than the entries that would be evicted for it.
  @usableFromInline
  package mutating func admits(_ hash: UInt32, weight: Int) -> Bool {
    if !isAdaptive || !isWeighted { return true }
    if weight <= max(windowLimit, totalWeight / Self.largeShare) { return true }
    return contest(max(1, sketch.frequency(hash)), weight) != nil
  }

  /// Chooses the entries to evict for a value of this weight; none only if there are no entries.
  ///
  /// The caller has to remove each of them.
  @usableFromInline
  package mutating func chooseVictims(for weight: Int) -> Victims {
    if !isAdaptive { return Victims(window.oldest) }
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
    states[candidate] = Self.inProbation
    nodes.move(candidate, from: &window, to: &probation)
    return losers
  }

  /// The greatest number of entries that get another chance at a time.
  static var chances: Int { 128 }

  /// The divisor of the total weight above which a value is large.
  private static var largeShare: Int { 4 }

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
      states[oldest] = Self.inProtected
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
        states[oldest] = Self.inProbation
        nodes.move(oldest, from: &protected, to: &probation)
      }
    }
  }

  /// Whether an entry gets another chance: it was used since it was last examined, and the chances
  /// are not used up.
  private mutating func takeChance(of slot: Slot, _ chances: inout Int) -> Bool {
    defer { states[slot] &= ~Self.isUsed }
    chances -= 1
    return chances >= 0 && states[slot] & Self.isUsed != 0
  }
}
