public import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Keeps what a source has brought, unless something was written since it was asked.
  @inlinable
  func fill<E: Entity>(_ value: E, _ token: FillToken) {
    inTurn {
      if admits(token, for: value.reference) { write(value, .fill) }
    }
  }

  /// Keeps what was stored once, by another store, unless something was written since; what has come
  /// from a source meanwhile is newer, and replaces it.
  @inlinable
  func restore<E: Entity>(_ value: E, _ token: FillToken) {
    inTurn {
      let reference = value.reference
      guard admits(token, for: reference) else { return }
      let kept = peek(reference).map { $0.replacing(value) } ?? value
      write(DraftEdit(id: reference.id, value: kept, place: .fill))
    }
  }

  /// Whether a fill is admitted, be it that a write came before it in the transaction that runs.
  ///
  /// It stays so until the commit, since this thread has the turn.
  @inlinable
  func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    let part = draft.part(E.self)
    if let edit = part?.edit(of: reference.id), !edit.place.isFill { return false }
    if token.revision < max(draft.clearedAt, part?.clearedAt ?? .none) { return false }
    return shelves.withLock { $0.admits(token, for: reference) }
  }
}
