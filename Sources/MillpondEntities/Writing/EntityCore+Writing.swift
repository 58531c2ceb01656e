public import MillpondCore
import MillpondSignals

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
    let mustDeliver = commit(&released) { tables, commit in
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
}
