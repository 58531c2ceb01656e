import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Commits the writes, and then those that users' code made during the comparison.
  ///
  /// - Parameter released: Collects objects to release after the turn.
  /// - Returns: Whether there are notices.
  @usableFromInline
  func commit(_ released: inout [any Sendable]) -> Bool {
    var (mustDeliver, isLater) = (false, false)
    while !transaction.isEmpty {
      let written = takeTransaction(&released)
      for part in written.edits { part.table.prepare(part.edits, isLater) }
      mustDeliver = commit(&released, isSilent: written.isSilent) { tables, commit in
        if written.clearedAt != .none { tables.clearedAt = commit.revision }
        for part in written.edits { part.table.apply(part.edits, &tables, &commit) }
      } causes: {
        written.edits.flatMap { $0.table.causes($0.edits) }
      }
      if let age = written.pruning {
        let cutoff = age <= .zero ? .max : CoarseTime.birth(of: age, time.now())
        mustDeliver = commit(&released) { $0.dropUnused(since: cutoff, &$1) }
      }
      if !written.requests.isEmpty {
        tables.withLock { $0.observers.notices += written.requests }
        mustDeliver = true
      }
      isLater = true
    }
    return mustDeliver
  }

  /// Takes the writes, so that later ones belong to another commit.
  ///
  /// - Parameter released: Receives them, to be released after the turn.
  @discardableResult
  @usableFromInline
  func takeTransaction(_ released: inout [any Sendable]) -> Transaction {
    let written = exchange(&transaction, with: Transaction())
    released.append(written)
    return written
  }

  /// Commits the changes of `body` under the lock, and then evicts entities if necessary.
  ///
  /// - Parameters:
  ///   - released: Collects objects to release after the turn.
  ///   - isSilent: Whether observers and queries are not notified.
  ///   - body: Changes the tables.
  ///   - causes: Returns references to the changed entities, for their observers; to none by default.
  /// - Returns: Whether there are notices.
  @inlinable
  func commit(
    _ released: inout [any Sendable], isSilent: Bool = false,
    _ body: (inout EntityTables, inout Commit) -> Void,
    causes: () -> [AnyReference] = { [] }
  ) -> Bool {
    let now = time.now()
    let (left, mustDeliver, isCrowded) = tables.withLock { tables in
      let isObserved = !isSilent && tables.isObserved
      var commit = Commit(now: now, isSilent: isSilent, isObserved: isObserved)
      body(&tables, &commit)
      if !commit.changed.isEmpty || commit.isAnnounced { tables.queueNotices(of: commit, causes) }
      tables.finish(&commit)
      return (commit.released, !tables.observers.notices.isEmpty, tables.isCrowded)
    }
    targets.removeAll(keepingCapacity: targets.count <= Self.fewTargets)
    if !left.isEmpty { released += left }
    if isCrowded { return evict(&released) }
    return mustDeliver
  }

  /// Evicts entities; in a commit of its own, so that nobody waits for both.
  @usableFromInline
  func evict(_ released: inout [any Sendable]) -> Bool {
    commit(&released) { $0.evict(&$1) }
  }

  @usableFromInline static var fewTargets: Int { 64 }
}
