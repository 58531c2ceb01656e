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
  /// Observers that come between the steps have begun with the new state, so only those that
  /// were there before are notified.
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
    let causes = commit.changed.isEmpty ? [] : parts.flatMap { $0.causes() }
    let notification = withLock { tables, observers in
      for part in parts { part.endSteps(&commit, last) }
      tables.committedCount = nil
      tables.endReferring(&commit)
      return observers.notify(of: &commit, in: &tables, upTo: last) { causes }
    }
    onStep?()
    return finish(commit, notification, isSparse: false, &released) { causes }
  }

  private func apply(_ part: TransactionPart, _ commit: inout Commit) {
    for start in stride(from: 0, to: part.editCount(), by: Commit.stepSize) {
      let range = start..<min(part.editCount(), start + Commit.stepSize)
      commit.makeRoom()
      tables.withLock { tables in
        part.applyRange(range, &tables, &commit)
        tables.longestStep = max(tables.longestStep, range.count)
      }
      onStep?()
    }
    part.collectChanges()
  }
}
