public import MillpondCore
public import MillpondSignals

/// The writes of a transaction to entities of one type, which only the writer sees.
@usableFromInline
@_fixed_layout
final class EntityEdits<E: Entity>: @unchecked Sendable {
  // Sendable because it is touched only with the turn.
  @usableFromInline let core: EntityCore
  @usableFromInline let table: EntityTable<E>
  @usableFromInline let relations: [Relation<E>]

  /// The edits, and the place of each entity among them once they are many.
  @exclusivity(unchecked) @usableFromInline var edits: [Edit<E>] = []
  @exclusivity(unchecked) @usableFromInline var places: [E.ID: Int] = [:]

  /// The revision of a removal of the whole type, which a rollback keeps: it only refuses fills
  /// requested before it.
  @exclusivity(unchecked) @usableFromInline var clearedAt = Revision.none

  @inlinable
  init(_ core: EntityCore) {
    self.core = core
    table = core.tables.withLock { $0.table(E.self) }
    relations = table.relations()
  }

  @inlinable
  func edit(of id: E.ID) -> Edit<E>? {
    place(of: id).map { edits[$0] }
  }

  /// Returns the place of an edit; a few are found faster without the dictionary.
  @inlinable
  func place(of id: E.ID) -> Int? {
    places.isEmpty ? edits.firstIndex { $0.id == id } : places[id]
  }

  /// Returns the edit of an entity, or one that changes nothing yet.
  @inlinable
  func draft(of id: E.ID) -> Edit<E> {
    edit(of: id) ?? Edit(id, stored(id))
  }

  @inlinable
  func stored(_ id: E.ID) -> StoredEntity<E> {
    core.tables.withLock { _ in table.find(id) }
  }

  // MARK: Writing

  /// Changes the present value of an entity.
  ///
  /// Merging runs users' code, which may write as well: no edit is being changed meanwhile.
  @inlinable
  func write(_ id: E.ID, _ order: EditOrder, _ change: ValueChange<E>) {
    var edit = draft(of: id)
    edit.apply(change, order)
    write(edit)
  }

  /// Removes all stored entities, and all that were written so far.
  @inlinable
  func removeAll(_ order: EditOrder) {
    for id in ids() {
      var edit = draft(of: id)
      if edit.value == nil, order.isOptimistic || edit.layers == nil { continue }
      edit.apply(.remove, order)
      write(edit)
    }
    if !order.isOptimistic { clearedAt = .next() }
  }

  /// Returns the identities of all entities that are stored, have optimistic values, or were written
  /// so far, except of those that were committed after `revision`.
  @inlinable
  func ids(until revision: Revision = .last) -> [E.ID] {
    edits.map(\.id) + core.tables.withLock { _ in table.ids(until: revision) }
  }

  @inlinable
  func write(_ edit: Edit<E>) {
    let place = place(of: edit.id)
    let before = place.map { edits[$0] }
    if core.transaction.depth > 0 {
      let undone = place ?? edits.count
      core.transaction.undone.append { self.undo(undone, before) }
    }
    if let place {
      edits[place] = edit
      // Its release may run users' code that writes, which must not happen while the edits are
      // being changed.
      withExtendedLifetime(before) {}
    } else {
      if !places.isEmpty { places[edit.id] = edits.count }
      edits.append(edit)
      if places.isEmpty, edits.count > Self.fewEdits {
        for (place, edit) in edits.enumerated() { places[edit.id] = place }
      }
    }
  }

  /// Makes an edit as it was, or removes it, which is the last one then; returns the present one.
  @inlinable
  func undo(_ place: Int, _ before: Edit<E>?) -> Edit<E> {
    let gone = edits[place]
    if let before {
      edits[place] = before
    } else {
      places[gone.id] = nil
      edits.removeLast()
    }
    return gone
  }

  @usableFromInline
  static var fewEdits: Int { 8 }

  // MARK: Outcomes of optimistic writes

  /// Confirms an optimistic write of an entity, unless a later one has replaced it.
  ///
  /// It is ordered as the write that it was; but fills that were requested before the confirmation
  /// are refused, since their answers may be older.
  ///
  /// - Parameters:
  ///   - id: The entity.
  ///   - revision: The revision of the write.
  ///   - answer: The answer to set in its place.
  func confirm(_ id: E.ID, _ revision: Revision, by answer: E? = nil) {
    var edit = draft(of: id)
    let confirmed = edit.layers?.confirming(revision, by: answer.map { .set($0) })
    guard let confirmed else { return }
    core.tables.withLock { _ in
      _ = table.order.admit(id, revision, over: table.written(id))
    }
    edit.order = .drawn(revision)
    edit.show(confirmed)
    write(edit)
  }

  /// Undoes an optimistic write of an entity; returns false if a later write has replaced it.
  func refuse(_ id: E.ID, _ revision: Revision) -> Bool {
    var edit = draft(of: id)
    guard let rest = edit.layers?.refusing(revision) else { return false }
    edit.order = .fill
    edit.show(rest)
    write(edit)
    return true
  }
}
