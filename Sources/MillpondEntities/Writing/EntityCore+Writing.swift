public import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Performs a transaction of one value, the usual case, in the same steps but without a list of
  /// edits.
  ///
  /// - Returns: Objects to release after the turn, and whether there are notices.
  @inlinable
  func setAlone<E: Entity>(
    _ value: E
  ) -> (left: (E?, E, [any Sendable]), mustDeliver: Bool) {
    let (table, stored) = tables.withLock { tables in
      let table = tables.table(E.self)
      return (table, table.find(value.id))
    }
    var released: [any Sendable] = []
    if stored.layers != nil {
      // An optimistic write keeps more than one value.
      edits(of: E.self).write(value.id, .now, .set(value))
      let mustDeliver = commit(&released)
      return ((nil, value, released), mustDeliver)
    }
    let (row, old) = (stored.row, stored.value)
    let new = old.map { value.replacing($0) } ?? value
    let isChange = new != old
    let range = isChange ? readRelations(of: new, table.relations()) : 0..<0
    if !transaction.isEmpty {
      // Users' code has written something meanwhile, which belongs to this transaction.
      var edit = Edit(value.id, stored)
      (edit.value, edit.order) = (new, .now)
      edits(of: E.self).write(edit)
      let mustDeliver = commit(&released)
      return ((old, new, released), mustDeliver)
    }
    let mustDeliver = commit(&released) { tables, commit in
      var known = old == nil ? nil : row
      if isChange { known = table.put(new, value.id, at: known, targets[range], &tables, &commit) }
      table.note(value.id, known, .commit(after: .none), commit)
      table.finish(&commit) { isChange ? [TableEdit(id: value.id, value: new)] : [] }
    } causes: {
      [AnyReference(new.reference)]
    }
    return ((old, new, released), mustDeliver)
  }

  /// - Parameter isEnd: Whether the store ends: then observers and queries are not notified.
  @usableFromInline
  func removeAll(isEnd: Bool = false) {
    inTurn {
      let order = isEnd ? .now : transaction.order
      if !order.isOptimistic {
        transaction.clearedAt = .next()
        transaction.isSilent = isEnd
      }
      for table in tables.withLock({ $0.tables }) { table.removeAll(self, order) }
    }
  }

  /// Returns the edits of a type in the running transaction, to which a write is about to be added.
  @inlinable
  func edits<E: Entity>(of type: E.Type) -> EntityEdits<E> {
    if let edits = transaction.edits(of: type) { return edits }
    let edits = EntityEdits<E>(self)
    // Reading the relations runs users' code, which may have written.
    if let others = transaction.edits(of: type) { return others }
    let table = tables.withLock { $0.tables[Int(edits.table.number)] }
    transaction.edits.append((ObjectIdentifier(E.self), table, edits))
    return edits
  }

  /// Records the nodes that a value refers to, so that they are kept until the commit; returns
  /// their range in ``targets``.
  @inlinable
  func readRelations<E>(of value: E, _ relations: [Relation<E>]) -> Range<Int> {
    let start = targets.count
    if relations.isEmpty { return start..<start }
    var related = RelatedEntities(tables, targets)
    targets = []
    for relation in relations { relation.read(value, &related) }
    targets = related.targets
    return start..<targets.count
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
      let outcome = Swift.Result(catching: body)
      var released: [any Sendable] = []
      if case .failure = outcome { takeTransaction(&released) }
      _ = commit(&released)
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
    let outcome = Swift.Result(catching: body)
    let gone: [any Sendable] =
      if case .failure = outcome { transaction.rollBack(to: savepoint) } else { [] }
    transaction.depth -= 1
    // Released here, so that writes by users' objects at their release are not undone.
    withExtendedLifetime(gone) {}
    return try outcome.get()
  }
}
