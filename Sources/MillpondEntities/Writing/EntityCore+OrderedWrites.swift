public import MillpondCore
public import MillpondSignals

/// Writes through caches, whose revisions were drawn before they arrive here.
///
/// On arrival, each is compared with the writes that have arrived before. While it waits for the
/// turn, removals and other writes with drawn revisions can overtake it, but sets of the running
/// writer cannot.
extension EntityCore {
  /// Removes all entities that were not written later.
  @inlinable
  func removeAll<E: Entity>(of type: E.Type, _ revision: Revision) {
    guard admits({ $0.order.admitAll(revision) }, type) else { return }
    inTurn {
      let edits = edits(of: type)
      for id in edits.ids(until: revision) where !isOvertaken(Reference<E>(id), revision) {
        edits.write(id, .drawn(revision), .remove)
      }
    }
  }

  /// Performs a write, unless a later one of the entity has arrived, or arrives before its turn.
  @inlinable
  func arrive<E>(
    _ reference: Reference<E>, _ revision: Revision, _ change: ValueChange<E>
  ) {
    PendingWrite.during(revision) {
      guard admits({ $0.admits(revision, for: reference.id) }, E.self) else { return }
      inTurn {
        let last = tables.withLock { tables in
          max(tables.clearedAt, tables.table(E.self).order.lastWrite(of: reference.id))
        }
        if last <= revision, !isOvertaken(reference, revision) {
          edits(of: E.self).write(reference.id, .drawn(revision), change)
        }
      }
    }
  }

  @inlinable
  func admits<E: Entity>(
    _ decide: (EntityTable<E>) -> Bool, _ type: E.Type
  ) -> Bool {
    let (isAdmitted, forgotten) = tables.withLock { tables in
      let table = tables.table(type)
      return (decide(table), table.order.takeForgotten())
    }
    withExtendedLifetime(forgotten) {}  // released here, not under the lock
    return isAdmitted
  }

  /// Returns whether the running transaction has a later write of the entity, or a later removal of
  /// all.
  @inlinable
  func isOvertaken<E>(_ reference: Reference<E>, _ revision: Revision) -> Bool {
    let edits = transaction.edits(of: E.self)
    let edit = edits?.edit(of: reference.id)?.order.revision ?? .none
    return revision <= max(edit, transaction.clearedAt, edits?.clearedAt ?? .none)
  }
}

extension EntityCore {
  /// Stores an answer of a source, unless the entity was written since the request.
  @inlinable
  func fill<E: Entity>(_ value: E, _ token: FillToken) {
    inTurn {
      if admits(token, for: value.reference) {
        edits(of: E.self).write(value.id, .fill, .set(value))
      }
    }
  }

  /// Returns whether a fill is admitted: if the entity was not written since the token was drawn, not
  /// even in the running transaction, and the token's flight still has a subscriber.
  ///
  /// The result stays valid until the commit, because this thread has the turn.
  @inlinable
  func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    let edits = transaction.edits(of: E.self)
    if let edit = edits?.edit(of: reference.id), !edit.order.isFill { return false }
    if token.revision < max(transaction.clearedAt, edits?.clearedAt ?? .none) { return false }
    return tables.withLock { tables in
      guard token.revision > tables.clearedAt else { return false }
      let table = tables.table(E.self)
      return table.order.admit(token, for: reference.id, over: table.written(reference.id))
    }
  }
}
