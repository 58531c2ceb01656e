public import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Keeps what a source has brought, unless something was written since it was asked.
  @inlinable
  func fill<E: Entity>(_ value: E, _ token: FillToken) {
    inTurn {
      if admits(token, for: value.reference) {
        write(E.self) { $0.set(value, .fill, canUndo: $1) }
      }
    }
  }

  /// Keeps what was stored once, by another store, unless something was written since; what has come
  /// from a source meanwhile is newer, and replaces it.
  @inlinable
  func restore<E: Entity>(_ value: E, _ token: FillToken) {
    inTurn {
      guard admits(token, for: value.reference) else { return }
      write(E.self) { $0.restore(value, canUndo: $1) }
    }
  }

  /// Whether a fill is admitted, be it that a write came before it in the transaction that runs.
  ///
  /// It stays so until the commit, since this thread has the turn.
  @inlinable
  func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    let edits = transaction.edits(of: E.self)
    if let edit = edits?.edit(of: reference.id), !edit.order.isFill { return false }
    if token.revision < max(transaction.clearedAt, edits?.clearedAt ?? .none) { return false }
    return tables.withLock { $0.admits(token, for: reference) }
  }
}
