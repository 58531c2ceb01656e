import MillpondCore
import MillpondSignals

/// Writes through caches, whose places in the order were drawn before they came here.
///
/// Each is compared with what has arrived when it arrives itself. While it waits for the writer that
/// has the turn, it is overtaken by removals, and by writes of its kind, but not by what that writer sets.
extension EntityCore {
  func set<E: Entity>(_ value: E, _ revision: Revision) {
    arrive(value.reference, revision) { write(value, .drawn(revision)) }
  }

  func remove<E>(_ reference: Reference<E>, _ revision: Revision) {
    arrive(reference, revision) {
      write(DraftEdit<E>(id: reference.id, value: nil, place: .drawn(revision)))
    }
  }

  /// Removes what was not written later.
  func removeAll<E: Entity>(of type: E.Type, _ revision: Revision) {
    let table = table(type)
    guard admits({ $0.order.admitAll(revision) }, table) else { return }
    inTurn {
      let written = draft.part(type)?.edits.map(\.id) ?? []
      let stored = shelves.withLock { _ in table.storedIDs(until: revision) }
      for id in written + stored where !isOvertaken(Reference<E>(id), revision) {
        write(DraftEdit<E>(id: id, value: nil, place: .drawn(revision)))
      }
    }
  }

  /// Carries out a write unless a later one of the entity has arrived, or does before its turn.
  private func arrive<E>(_ reference: Reference<E>, _ revision: Revision, _ write: () -> Void) {
    PendingWrite.during(revision) {
      let table = table(E.self)
      guard admits({ $0.admits(revision, for: reference.id) }, table) else { return }
      inTurn {
        let last = shelves.withLock { max($0.clearedAt, table.order.lastWrite(of: reference.id)) }
        if last <= revision, !isOvertaken(reference, revision) { write() }
      }
    }
  }

  private func admits<E>(
    _ decide: (EntityTable<E>) -> Bool, _ table: EntityTable<E>
  ) -> Bool {
    let (isAdmitted, forgotten) = shelves.withLock { _ in
      (decide(table), table.order.takeForgotten())
    }
    _ = forgotten  // released here, not under the lock
    return isAdmitted
  }

  /// Whether the transaction that runs has a later write of an entity, or a removal of all.
  private func isOvertaken<E>(_ reference: Reference<E>, _ revision: Revision) -> Bool {
    let part = draft.part(E.self)
    let edit = part?.edit(of: reference.id)?.place.revision ?? .none
    return revision <= max(edit, draft.clearedAt, part?.clearedAt ?? .none)
  }
}
