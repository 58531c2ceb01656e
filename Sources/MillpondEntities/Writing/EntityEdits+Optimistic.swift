public import MillpondCore
import MillpondSignals

/// Writes to entities with optimistic values.
///
/// The visible value is in the row, and takes part in everything that the store does. The confirmed
/// value and the others wait beside it, in ``EntityTable/optimistic``.
extension EntityEdits {
  /// Returns whether a write may concern optimistic values.
  @inlinable
  func isOptimistic(_ order: EditOrder) -> Bool {
    if case .optimistic = order { return true }
    // Read without the lock: it changes only with the turn, which this thread has.
    return !optimisticValues.isEmpty || !table.optimistic.isEmpty
  }

  /// Writes the value that `make` returns for the present one.
  ///
  /// - A write that is made now is later than all optimistic ones, and replaces them.
  /// - A write with its own revision replaces earlier optimistic ones, and is confirmed below later
  ///   ones; so is a fill, which is no write.
  /// - An optimistic write lies above all others.
  @usableFromInline
  func place(_ id: E.ID, _ order: EditOrder, canUndo: Bool, _ make: (E?) -> E?) {
    let state = state(of: id)
    switch order {
    case .commit:
      write(Edit(id, make(state.value), order, state.stored), canUndo: canUndo)
    case .optimistic(let revision):
      let value = make(state.value)
      let values = state.values ?? OptimisticValues(state.value, [])
      write(state, values.adding(value, revision), id, state.order, canUndo: canUndo)
    case .fill, .drawn:
      // A fill has no revision, so it replaces no optimistic value.
      let base = make(state.confirmed)
      if let values = state.values?.later(than: order.revision, above: base) {
        write(state, values, id, order, canUndo: canUndo)
      } else {
        let value = state.values == nil ? base : make(state.value)
        write(Edit(id, value, order, state.stored), canUndo: canUndo)
      }
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
    edit.optimisticPlace = Int32(optimisticValues.count)
    optimisticValues.append(values)
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
      if isConfirmed { confirm(id, revision) { $0 } } else { _ = undo(id, revision) }
    }
  }

  /// Confirms an optimistic write of an entity, with the value that `make` returns for its own.
  ///
  /// It is ordered as the write that it was; but fills that were requested before the confirmation
  /// are refused, since their answers may be older.
  func confirm(_ id: E.ID, _ revision: Revision, _ make: (E?) -> E?) {
    let state = state(of: id)
    guard let values = state.values, values.contains(revision) else { return }
    let layer = values.layers.last { $0.revision == revision }
    let confirmed = make(layer.flatMap(\.value))
    tables.withLock { _ in
      _ = table.order.admit(id, revision, over: table.written(id))
    }
    if let later = values.later(than: revision, above: confirmed) {
      write(state, later, id, .drawn(revision), canUndo: false)
    } else {
      write(Edit(id, confirmed, .drawn(revision), state.stored), canUndo: false)
    }
  }

  /// Undoes an optimistic write of an entity; returns false if a later write has replaced it.
  func undo(_ id: E.ID, _ revision: Revision) -> Bool {
    let state = state(of: id)
    guard let values = state.values, values.contains(revision) else { return false }
    let others = values.layers.filter { $0.revision != revision }
    if others.isEmpty {
      write(Edit(id, values.confirmed, .fill, state.stored), canUndo: false)
    } else {
      let rest = OptimisticValues(values.confirmed, others)
      write(state, rest, id, .fill, canUndo: false)
    }
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
        for layer in values.layers where former?.values.contains(layer.revision) != true {
          table.optimisticWrites[layer.revision, default: []].append(edit.id)
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
