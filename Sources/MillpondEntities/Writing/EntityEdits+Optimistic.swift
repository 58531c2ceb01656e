public import MillpondCore
import MillpondSignals

/// Writes to entities with optimistic values.
///
/// The visible value is in the row, and takes part in everything that the store does. The writes
/// that wait, and what lies below them, are beside it, in ``EntityTable/optimistic``.
extension EntityEdits {
  /// Returns whether a write may concern optimistic values.
  @inlinable
  func isOptimistic(_ order: EditOrder) -> Bool {
    if case .optimistic = order { return true }
    // Read without the lock: it changes only with the turn, which this thread has.
    return !optimisticValues.isEmpty || !table.optimistic.isEmpty
  }

  /// Sets a value as an edit of what lies below it: one that is known in part leaves the rest.
  @usableFromInline
  func setInLayers(_ value: E, _ order: EditOrder, canUndo: Bool) {
    place(value.id, order, canUndo: canUndo, setting(value))
  }

  func setting(_ value: E) -> LayeredEdit<E> {
    LayeredEdit(isWhole: !(E.self is any Mergeable.Type)) { old in
      old.map { value.replacing($0) } ?? value
    }
  }

  @usableFromInline
  func removeInLayers(_ id: E.ID, _ order: EditOrder, canUndo: Bool) {
    place(id, order, canUndo: canUndo, LayeredEdit(isWhole: true) { _ in nil })
  }

  @usableFromInline
  func restoreInLayers(_ value: E, canUndo: Bool) {
    let restoring = LayeredEdit<E>(isWhole: false) { old in
      old.map { $0.replacing(value) } ?? value
    }
    place(value.id, .fill, canUndo: canUndo, restoring)
  }

  /// Changes the present value, if there is one; its identity stays.
  func change(
    _ id: E.ID, _ order: EditOrder, canUndo: Bool, _ change: @escaping @Sendable (inout E) -> Void
  ) {
    let changing = LayeredEdit<E>(isWhole: false) { old in
      guard var new = old else { return nil }
      change(&new)
      return new.id == old?.id ? new : old
    }
    place(id, order, canUndo: canUndo, changing)
  }

  /// Makes an edit at its place.
  ///
  /// - An optimistic one lies above all others.
  /// - An ordinary one has the place of its revision, and is confirmed there; that of a write that
  ///   is made now is the last.
  /// - A fill, which is no write, lies below all that wait.
  private func place(
    _ id: E.ID, _ order: EditOrder, canUndo: Bool, _ edit: LayeredEdit<E>
  ) {
    let state = state(of: id)
    if case .optimistic(let revision) = order {
      let values = state.values ?? OptimisticValues(state.value)
      write(state, values.adding(edit, revision), id, state.order, canUndo: canUndo)
    } else if let values = state.values {
      let others =
        order.isFill
        ? values.rebased(on: edit(values.confirmed))
        : values.adding(edit, confirmedAt: order.revision)
      write(state, others, id, order, canUndo: canUndo)
    } else {
      write(Edit(id, edit(state.value), order, state.stored), canUndo: canUndo)
    }
  }

  /// Returns whether there is a confirmed value.
  func hasConfirmed(_ id: E.ID) -> Bool {
    state(of: id).confirmed != nil
  }

  /// The state of an entity before a write.
  private struct State {
    let stored: (row: Int32?, value: E?)
    let values: OptimisticValues<E>?
    let value: E?

    /// The order of the confirmed value, if it was written in this transaction.
    let order: EditOrder

    /// The value below the optimistic ones.
    var confirmed: E? {
      values.map(\.confirmed) ?? value
    }
  }

  private func state(of id: E.ID) -> State {
    if let edit = edit(of: id) {
      return State(
        stored: edit.stored, values: edit.optimisticPlace.map { optimisticValues[Int($0)] },
        value: edit.value, order: edit.order)
    }
    let (stored, values) = tables.withLock { _ in
      (table.find(id), table.optimistic[id]?.values)
    }
    return State(stored: stored, values: values, value: stored.value, order: .fill)
  }

  private func write(
    _ state: State, _ values: OptimisticValues<E>, _ id: E.ID, _ order: EditOrder, canUndo: Bool
  ) {
    var edit = Edit(id, values.visible, order, state.stored)
    if !values.layers.isEmpty {
      edit.optimisticPlace = Int32(optimisticValues.count)
      optimisticValues.append(values)
    }
    write(edit, canUndo: canUndo)
  }

  /// The identities of all entities with optimistic values.
  @usableFromInline
  func optimisticIDs(until revision: Revision = .last) -> [E.ID] {
    if table.optimistic.isEmpty { return [] }
    return tables.withLock { _ in
      table.optimistic.keys.filter { table.written($0) <= revision }
    }
  }

  // MARK: Outcomes

  /// Confirms or undoes an optimistic write, as far as no later write has replaced it.
  ///
  /// - Parameters:
  ///   - revision: The revision of the write.
  ///   - isConfirmed: Whether it is confirmed.
  ///   - touch: Called first, if the write concerns entities of this type.
  @usableFromInline
  func settle(_ revision: Revision, isConfirmed: Bool, touch: () -> Void) {
    let ids = tables.withLock { _ in table.optimisticWrites.removeValue(forKey: revision) }
    guard let ids else { return }
    touch()
    for id in ids {
      if isConfirmed { confirm(id, revision) } else { _ = undo(id, revision) }
    }
  }

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
    let state = state(of: id)
    let confirmed = state.values?.confirming(revision, by: answer.map { setting($0) })
    guard let confirmed else { return }
    tables.withLock { _ in
      _ = table.order.admit(id, revision, over: table.written(id))
    }
    write(state, confirmed, id, .drawn(revision), canUndo: false)
  }

  /// Undoes an optimistic write of an entity; returns false if a later write has replaced it.
  func undo(_ id: E.ID, _ revision: Revision) -> Bool {
    let state = state(of: id)
    guard let rest = state.values?.refusing(revision) else { return false }
    write(state, rest, id, .fill, canUndo: false)
    return true
  }

  // MARK: Committing

  /// Compares the confirmed values with the former ones, and reads the relations of hidden ones.
  @usableFromInline
  func prepareOptimistic() {
    for place in spent.edits.indices {
      let edit = spent.edits[place]
      let former = tables.withLock { _ in table.optimistic[edit.id] }
      let values = edit.optimisticPlace.map { spent.optimisticValues[Int($0)] }
      if former == nil, values == nil { continue }
      let old = former.map(\.values.confirmed) ?? edit.stored.value
      let new = values.map(\.confirmed) ?? edit.value
      let start = targets.count
      for value in values?.hidden ?? [] { _ = readRelations(of: value) }
      spent.edits[place].isOptimistic = true
      spent.optimistic.append(
        OptimisticEdit(
          id: edit.id, values: values, held: start..<targets.count,
          confirmed: new == old ? nil : TableEdit(id: edit.id, value: new)))
    }
  }

  /// Replaces the optimistic values, under the lock.
  @usableFromInline
  func applyOptimistic(to tables: inout EntityTables, _ commit: inout Commit) {
    for edit in spent.optimistic {
      let former = table.optimistic[edit.id]
      if let values = edit.values {
        let nodes = [table.node(of: edit.id, in: &tables.graph)] + targets[edit.held]
        for node in nodes { tables.retain(node) }
        table.optimistic[edit.id] = OptimisticRow(values: values, nodes: nodes)
        let known = former.map { Set($0.values.waiting) } ?? []
        for revision in values.waiting where !known.contains(revision) {
          table.optimisticWrites[revision, default: []].append(edit.id)
        }
      } else {
        table.optimistic[edit.id] = nil
      }
      if let former {
        tables.unretained += former.nodes
        commit.released.append(former)
      }
    }
  }

  /// The changes of confirmed values, for copies of the store; nil if they are those of the visible
  /// ones.
  @usableFromInline
  var confirmedChanges: [TableEdit<E>]? {
    if spent.optimistic.isEmpty { return nil }
    let others = spent.edits.compactMap { edit in
      edit.isChange && !edit.isOptimistic ? TableEdit(id: edit.id, value: edit.value) : nil
    }
    return others + spent.optimistic.compactMap(\.confirmed)
  }
}
