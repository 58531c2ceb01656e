/// A search for a shorter and simpler list of steps that still breaks the same rule.
///
/// Each trial runs from the start, so the same steps must give the same result.
package struct Shrinker<Step: Sendable>: Sendable {
  /// Returns simpler replacements of a step, the simplest first.
  package let simpler: @Sendable (Step) -> [Step]

  /// Returns whether the steps still break the rule.
  package let isBroken: @Sendable ([Step]) async -> Bool

  /// The greatest number of trials.
  package let limit: Int

  package init(
    simpler: @escaping @Sendable (Step) -> [Step],
    isBroken: @escaping @Sendable ([Step]) async -> Bool, limit: Int
  ) {
    self.simpler = simpler
    self.isBroken = isBroken
    self.limit = limit
  }

  /// Returns the shortest and simplest list found.
  ///
  /// - Complexity: O(*n* log *n*) trials for a list in which few steps matter.
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

  /// Replaces each step by the simplest one that still breaks the rule.
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
