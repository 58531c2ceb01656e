public import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Stores a value, merged with the stored one.
  @inlinable
  func set<E: Entity>(_ value: E) {
    if turn.isMine() {
      let order = transaction.order
      return write(E.self) { $0.set(value, order, canUndo: $1) }
    }
    let (left, mustDeliver) = turn.take { setAlone(value) }
    withExtendedLifetime(left) {}  // released here, when others may write again
    if mustDeliver { deliver() }
  }

  /// Performs a transaction of one value, the usual case, in the same steps but without a list of
  /// edits.
  ///
  /// - Returns: Objects to release after the turn, and whether there are notices.
  @inlinable
  func setAlone<E: Entity>(
    _ value: E
  ) -> (left: (E?, E, [any Sendable]), mustDeliver: Bool) {
    let edits = part(of: E.self).edits(of: E.self)
    // An optimistic write keeps more than one value.
    if !edits.table.optimistic.isEmpty {
      return writeAlone(nil, value) { $0.set(value, .now, canUndo: $1) }
    }
    let (row, old) = edits.stored(value.id)
    let new = old.map { value.replacing($0) } ?? value
    let isChange = new != old
    let targets = isChange ? edits.readRelations(of: new) : 0..<0
    if !transaction.isEmpty {
      // Users' code has written something meanwhile, which belongs to this transaction.
      return writeAlone(old, new) { $0.write(Edit(value.id, new, .now, (row, old)), canUndo: $1) }
    }
    var released: [any Sendable] = []
    let mustDeliver = step(&released) { tables, commit in
      var known = old == nil ? nil : row
      if isChange { known = edits.put(new, value.id, at: known, targets, in: &tables, &commit) }
      edits.note(value.id, known, .commit(after: .none), commit)
      edits.finish(&commit) { isChange ? [TableEdit(id: value.id, value: new)] : [] }
    } causes: {
      [AnyReference(new.reference)]
    }
    return ((old, new, released), mustDeliver)
  }

  /// Performs a transaction of one edit in the list.
  @usableFromInline
  func writeAlone<E: Entity>(
    _ old: E?, _ new: E, _ body: (EntityEdits<E>, _ canUndo: Bool) -> Void
  ) -> (left: (E?, E, [any Sendable]), mustDeliver: Bool) {
    var released: [any Sendable] = []
    write(E.self, body)
    let mustDeliver = commit(&released)
    transaction.takeSpent(&released)
    return ((old, new, released), mustDeliver)
  }

  @inlinable
  func remove<E>(_ reference: Reference<E>) {
    inTurn {
      let order = transaction.order
      write(E.self) { $0.remove(reference.id, order, canUndo: $1) }
    }
  }

  @inlinable
  func removeAll<E: Entity>(of type: E.Type) {
    inTurn {
      let order = transaction.order
      write(type) { $0.removeAll(order, canUndo: $1) }
    }
  }

  /// - Parameter isEnd: Whether the store ends: observers and queries are not notified, and
  ///   requests of earlier writes do not start any more.
  @usableFromInline
  func removeAll(isEnd: Bool = false) {
    inTurn {
      let order = isEnd ? .now : transaction.order
      if case .optimistic = order {} else { transaction.clearAll(isSilent: isEnd) }
      if isEnd { withLock { $1.endedAt = transaction.clearedAt } }
      let canUndo = transaction.canUndo
      for part in transaction.parts {
        transaction.touch(part)
        part.removeAll(order, canUndo)
      }
    }
  }

  /// Prunes at once, or at the end of the running transaction.
  @usableFromInline
  func prune(unusedFor age: Duration) {
    inTurn { transaction.pruning = min(age, transaction.pruning ?? age) }
  }

  /// Writes to the edits of a type, without an exclusive access to the transaction meanwhile.
  @inlinable
  func write<E: Entity>(_ type: E.Type, _ body: (EntityEdits<E>, _ canUndo: Bool) -> Void) {
    let part = part(of: type)
    transaction.touch(part)
    body(part.edits(of: type), transaction.canUndo)
  }

  /// Returns the part of a type, and makes it if there is none.
  @inlinable
  func part<E: Entity>(of type: E.Type) -> TransactionPart {
    if let part = transaction.part(of: type) { return part }
    let edits = EntityEdits<E>(tables)
    // Reading the relations runs users' code, which may have written.
    return transaction.part(of: type) ?? transaction.add(edits)
  }

  // MARK: Transactions

  /// Runs `body` as a transaction, or as a part of the running one.
  @usableFromInline
  func inTurn(_ body: () -> Void) {
    if turn.isMine() { body() } else { write(body) }
  }

  /// Runs a transaction, or an inner one if this thread is running one.
  @inlinable
  func write<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if turn.isMine() { return try join(body) }
    let (outcome, released) = turn.take {
      let outcome = attempt(body)
      var released: [any Sendable] = []
      if case .failure = outcome { transaction.discard(&released) }
      _ = commit(&released)
      transaction.takeSpent(&released)
      return (outcome, released)
    }
    withExtendedLifetime(released) {}  // released here, when others may write again
    deliver()
    return try outcome.get()
  }

  @inlinable
  func join<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    transaction.depth += 1
    let savepoint = transaction.savepoint
    let outcome = attempt(body)
    let gone: [any Sendable] =
      if case .failure = outcome { transaction.rollBack(to: savepoint) } else { [] }
    transaction.depth -= 1
    // Released here, so that writes by users' objects at their release are not undone.
    withExtendedLifetime(gone) {}
    return try outcome.get()
  }

  @inlinable
  func attempt<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    do throws(Failure) {
      return .success(try body())
    } catch {
      return .failure(error)
    }
  }

  // MARK: Committing

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
    var rest: CommitRest?
    let (left, mustDeliver, isCrowded) = withLock { tables, observers in
      let isObserved = !isSilent && observers.isObserved(tables)
      var commit = Commit(now: now, isSilent: isSilent, isObserved: isObserved)
      body(&tables, &commit)
      let last = observers.lastNumber
      let notification = observers.notify(of: &commit, in: &tables, upTo: last, causes)
      let isUnfinished = notification != nil || tables.finish(&commit)
      let isSparse = tables.hasForgotten && !isUnfinished && tables.takeIsSparse()
      if isUnfinished || isSparse || observers.isRemarkDue(tables) {
        rest = CommitRest(commit, notification, isSparse)
      }
      return (commit.released, !observers.notices.isEmpty, tables.isCrowded)
    }
    if let rest { return finish(rest, &released, causes) }
    if !left.isEmpty { released += left }
    if isCrowded { makeRoom(&released) }
    return mustDeliver || isCrowded
  }

  /// Carries out what a commit has left, in steps between which the lock is free, and then evicts
  /// entities if necessary.
  ///
  /// - Parameters:
  ///   - rest: The rest.
  ///   - released: Collects objects to release after the turn.
  ///   - causes: Returns references to the changed entities.
  /// - Returns: Whether there are notices.
  @usableFromInline
  func finish(
    _ rest: CommitRest, _ released: inout [any Sendable], _ causes: () -> [AnyReference]
  ) -> Bool {
    var commit = rest.commit
    if let notification = rest.notification {
      notify(notification, &commit, causes)
      tables.withLock { $0.endReferring(&commit) }
    }
    forgetLoose(&commit)
    remark()
    if rest.isSparse || tables.withLock({ $0.takeIsSparse() }) { shrink() }
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
