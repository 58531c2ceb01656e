import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Commits the writes, and then those that users' code made during the comparison.
  ///
  /// - Parameter released: Collects objects to release after the turn, besides those that the parts
  ///   keep.
  /// - Returns: Whether there are notices.
  @usableFromInline
  func commit(_ released: inout [any Sendable]) -> Bool {
    var (mustDeliver, isLater) = (false, false)
    while !transaction.isEmpty {
      let written = transaction.takeWritten(&released)
      let parts = transaction.spent[written.places]
      for part in parts { part.prepare(isLater) }
      mustDeliver = commit(parts, written, &released)
      if let age = written.pruning {
        let cutoff = age <= .zero ? .max : CoarseTime.birth(of: age, time.now())
        cancelEviction()
        released += collectUnused(since: cutoff)
        mustDeliver = true
      }
      if !written.requests.isEmpty {
        withLock { $1.notices += written.requests }
        mustDeliver = true
      }
      isLater = true
    }
    return mustDeliver
  }

  private func commit(
    _ parts: ArraySlice<TransactionPart>, _ written: WrittenParts, _ released: inout [any Sendable]
  ) -> Bool {
    if parts.contains(where: { $0.editCount() > Commit.stepSize }) {
      return commitInSteps(parts, written, &released)
    }
    return step(&released, isSilent: written.isSilent) { tables, commit in
      if written.isCleared { tables.clearedAt = commit.revision }
      for part in parts { part.apply(&tables, &commit) }
    } causes: {
      parts.flatMap { $0.causes() }
    }
  }

  /// Commits the changes of `body` in one step under the lock, and then evicts entities if
  /// necessary.
  ///
  /// - Parameters:
  ///   - released: Collects objects to release after the turn.
  ///   - isSilent: Whether observers and queries are not notified.
  ///   - body: Changes the tables.
  ///   - causes: Returns references to the changed entities, for their observers.
  /// - Returns: Whether there are notices.
  @inlinable
  func step(
    _ released: inout [any Sendable], isSilent: Bool = false,
    _ body: (inout EntityTables, inout Commit) -> Void, causes: () -> [AnyReference]
  ) -> Bool {
    let now = time.now()
    var rest: (commit: Commit, notification: CommitNotification?, isSparse: Bool)?
    let (left, mustDeliver, isCrowded) = withLock { tables, observers in
      let isObserved = !isSilent && observers.isObserved(tables)
      var commit = Commit(now: now, isSilent: isSilent, isObserved: isObserved)
      body(&tables, &commit)
      let last = observers.lastNumber
      let notification = observers.notify(of: &commit, in: &tables, upTo: last, causes)
      let isUnfinished = notification != nil || tables.finish(&commit)
      let isSparse = tables.hasForgotten && !isUnfinished && tables.takeIsSparse()
      if isUnfinished || isSparse || observers.isRemarkDue(tables) {
        rest = (commit, notification, isSparse)
      }
      return (commit.released, !observers.notices.isEmpty, tables.isCrowded)
    }
    if let rest {
      return finish(rest.commit, rest.notification, isSparse: rest.isSparse, &released, causes)
    }
    if !left.isEmpty { released += left }
    if isCrowded { makeRoom(&released) }
    return mustDeliver || isCrowded
  }

  /// Carries out what a commit has left, in steps between which the lock is free, and then evicts
  /// entities if necessary.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - notification: The rest of its notification; nil if the notices are queued.
  ///   - isSparse: Whether memory is to be given back.
  ///   - released: Collects objects to release after the turn.
  ///   - causes: Returns references to the changed entities.
  /// - Returns: Whether there are notices.
  @usableFromInline
  func finish(
    _ commit: Commit, _ notification: CommitNotification?, isSparse: Bool,
    _ released: inout [any Sendable], _ causes: () -> [AnyReference]
  ) -> Bool {
    var commit = commit
    if let notification {
      notify(notification, &commit, causes)
      tables.withLock { $0.endReferring(&commit) }
    }
    forgetLoose(&commit)
    remark()
    if isSparse || tables.withLock({ $0.takeIsSparse() }) { shrink() }
    released += commit.released
    let (mustDeliver, isCrowded) = withLock { tables, observers in
      (!observers.notices.isEmpty, tables.isCrowded)
    }
    if isCrowded { makeRoom(&released) }
    return mustDeliver || isCrowded
  }

  /// Continues a notification, and queues its notices.
  private func notify(
    _ notification: CommitNotification, _ commit: inout Commit, _ causes: () -> [AnyReference]
  ) {
    var notification = notification
    let references = causes()
    while withLock({ notification.advance(Commit.stepSize, &$0, $1.watches) { references } }) {
      onStep?()
    }
    let (notices, lists) = notification.takeNotices()
    commit.notices += lists
    withLock { [commit] _, observers in
      // One for all, so that queueing them takes no longer than one.
      if !notices.isEmpty { observers.notices.append { for notice in notices { notice() } } }
      if !commit.notices.isEmpty { observers.queue(commit.notices) }
    }
    endWalk()
  }
}
