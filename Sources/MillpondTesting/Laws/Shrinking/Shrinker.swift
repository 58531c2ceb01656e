/// Makes a list of steps that breaks something shorter and simpler, for as long as it still does.
///
/// Whatever is tried is run again from the start, so it has to come out the same for the same steps.
package struct Shrinker<Step: Sendable>: Sendable {
  /// Simpler steps to put in the place of one, the simplest first.
  package let simpler: @Sendable (Step) -> [Step]

  /// Whether the steps still break what they did.
  package let isBroken: @Sendable ([Step]) async -> Bool

  /// How many lists are tried at most.
  package let limit: Int

  package init(
    simpler: @escaping @Sendable (Step) -> [Step],
    isBroken: @escaping @Sendable ([Step]) async -> Bool, limit: Int
  ) {
    self.simpler = simpler
    self.isBroken = isBroken
    self.limit = limit
  }

  /// The shortest and simplest list that was found.
  ///
  /// - Complexity: O(*n* log *n*) runs for a list of which few steps matter.
  package func shrink(_ steps: [Step]) async -> [Step] {
    var trials = 0
    var best = steps
    while true {
      let count = best.count
      best = await removing(from: best, &trials)
      let (simplified, isChanged) = await simplifying(best, &trials)
      best = simplified
      if best.count == count && !isChanged || trials >= limit { return best }
    }
  }

  /// Removes chunks, the largest first, and then single steps.
  private func removing(from steps: [Step], _ trials: inout Int) async -> [Step] {
    var best = steps
    var size = max(1, best.count / 2)
    while true {
      var start = 0
      while start < best.count {
        var shorter = best
        shorter.removeSubrange(start..<min(start + size, best.count))
        if await works(shorter, &trials) { best = shorter } else { start += size }
      }
      if size == 1 { return best }
      size /= 2
    }
  }

  /// Puts the simplest step that will do in the place of each.
  private func simplifying(
    _ steps: [Step], _ trials: inout Int
  ) async -> (steps: [Step], isChanged: Bool) {
    var best = steps
    var isChanged = false
    for place in best.indices {
      for step in simpler(best[place]) {
        var other = best
        other[place] = step
        guard await works(other, &trials) else { continue }
        best = other
        isChanged = true
        break
      }
    }
    return (best, isChanged)
  }

  private func works(_ steps: [Step], _ trials: inout Int) async -> Bool {
    guard trials < limit else { return false }
    trials += 1
    return await isBroken(steps)
  }
}
