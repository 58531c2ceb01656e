import MillpondCore
import MillpondSignals

/// Commits of many edits, during which others take the lock in between.
///
/// The edits become visible at once: until they are in the rows, readers look into the edits first.
/// This thread has the turn meanwhile, so the only changes in between are those of observers, which
/// come, see the new state, and go.
extension EntityCore {
  /// Commits the edits of `parts`, and evicts entities if necessary.
  ///
  /// - Returns: Whether there are notices.
  func commitInSteps(
    _ parts: ArraySlice<TransactionPart>, _ written: WrittenParts, _ released: inout [any Sendable]
  ) -> Bool {
    let now = time.now()
    let growth = parts.reduce(0) { $0 + $1.growth() }
    var (commit, last) = withLock { tables, observers in
      let isObserved = !written.isSilent && observers.isObserved(tables)
      var commit = Commit(now: now, isSilent: written.isSilent, isObserved: isObserved)
      if written.isCleared { tables.clearedAt = commit.revision }
      tables.committedCount = tables.storedCount + growth
      for part in parts { part.publish(&tables, &commit) }
      return (commit, observers.lastNumber)
    }
    onStep?()
    for part in parts { apply(part, &commit) }
    let isNoticed = announce(parts, &commit, upTo: last)
    forgetLoose(&commit)
    let isCrowded = tables.withLock { tables in
      tables.shrink()
      return tables.isCrowded(countLimit)
    }
    released += commit.released
    if isCrowded { makeRoom(&released) }
    return isNoticed || isCrowded
  }

  private func apply(_ part: TransactionPart, _ commit: inout Commit) {
    for start in stride(from: 0, to: part.editCount(), by: Commit.stepSize) {
      let range = start..<min(part.editCount(), start + Commit.stepSize)
      tables.withLock { tables in
        part.applyRange(range, &tables, &commit)
        tables.longestStep = max(tables.longestStep, range.count)
      }
      onStep?()
    }
    part.collectChanges()
  }

  /// Ends the steps, and queues the notices for the observers up to the one with the number `last`;
  /// later ones have begun with the new state.
  private func announce(
    _ parts: ArraySlice<TransactionPart>, _ commit: inout Commit, upTo last: Int
  ) -> Bool {
    let causes = commit.changed.isEmpty ? [] : parts.flatMap { $0.causes() }
    let isNoticed = withLock { tables, observers in
      for part in parts { part.endSteps(&commit, last) }
      tables.committedCount = nil
      tables.endReferring(&commit)
      observers.announce(&commit, in: &tables, upTo: last) { causes }
      return !observers.notices.isEmpty
    }
    onStep?()
    return isNoticed
  }

  private func forgetLoose(_ commit: inout Commit) {
    commit.released.reserveCapacity(commit.released.count + commit.loose.count)
    var goesOn = true
    while goesOn {
      goesOn = tables.withLock { tables in
        let former = commit.loose.count
        let goesOn = tables.forgetLoose(&commit, atMost: Commit.stepSize)
        tables.longestStep = max(tables.longestStep, former - commit.loose.count)
        return goesOn
      }
      onStep?()
    }
  }
}
