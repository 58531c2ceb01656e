public import MillpondCore
import MillpondSignals

extension EntityEdits {
  /// Compares the edits with the stored values, and reads the relations of changed entities.
  ///
  /// Users' code that runs here may write; its writes belong to the next commit.
  ///
  /// - Parameter readsAgain: Whether something was committed since these edits were written.
  @inlinable
  func prepare(readsAgain: Bool) {
    for place in spent.edits.indices {
      if readsAgain {
        let former = spent.edits[place].stored
        spent.edits[place].stored = stored(spent.edits[place].id)
        withExtendedLifetime(former) {}
      }
      let (value, old) = (spent.edits[place].value, spent.edits[place].stored.value)
      if value == old { continue }
      spent.edits[place].isChange = true
      if let value { spent.edits[place].targets = readRelations(of: value) }
    }
    if !spent.optimisticValues.isEmpty || !table.optimistic.isEmpty { prepareOptimistic() }
  }

  /// Records the nodes that a value refers to, so that they are kept until the commit; returns
  /// their range.
  @inlinable
  func readRelations(of value: E) -> Range<Int> {
    let start = targets.count
    if relations.isEmpty { return start..<start }
    var related = RelatedEntities(tables, targets)
    targets = []
    for relation in relations { relation.read(value, &related) }
    targets = related.targets
    return start..<targets.count
  }

  // MARK: Under the lock

  /// Applies the prepared edits.
  @inlinable
  func apply(to tables: inout EntityTables, _ commit: inout Commit) {
    if spent.clearedAt != .none { _ = table.order.admitAll(commit.revision) }
    if !spent.optimistic.isEmpty { applyOptimistic(to: &tables, &commit) }
    for place in spent.edits.indices {
      let (id, isStored) = (spent.edits[place].id, spent.edits[place].value != nil)
      // The row of an entity that is not stored may belong to another one by now.
      var row = spent.edits[place].stored.value == nil ? nil : spent.edits[place].stored.row
      if spent.edits[place].isChange {
        row = put(
          spent.edits[place].value, id, at: row, spent.edits[place].targets, in: &tables, &commit)
      }
      note(id, isStored ? row : nil, spent.edits[place].order, commit)
    }
    finish(&commit, { changes }, confirmed: confirmedChanges)
  }

  @inlinable
  var changes: [TableEdit<E>] {
    spent.edits.compactMap { $0.isChange ? TableEdit(id: $0.id, value: $0.value) : nil }
  }

  /// Stores a value in its row, or clears the row; returns the row.
  ///
  /// The replaced value is not released here: the caller holds it.
  ///
  /// - Parameters:
  ///   - value: The new value; nil clears the row.
  ///   - id: The identity of the entity.
  ///   - known: The row, if the entity is stored.
  ///   - range: The range of its references in `targets`.
  ///   - tables: The tables.
  ///   - commit: Collects the changes.
  @inlinable
  func put(
    _ value: E?, _ id: E.ID, at known: Int32?, _ range: Range<Int>, in tables: inout EntityTables,
    _ commit: inout Commit
  ) -> Int32 {
    let node = known.map { table.rows[Int($0)].node } ?? table.node(of: id, in: &tables.graph)
    let row = tables.graph.nodes[Int(node)].row
    table.rows[Int(row)].value = value
    tables.put(value != nil, node, targets, range, &commit)
    if table.depth > 0, value != nil {
      tables.graph.mark(below: CollectionOfOne(node), depth: table.depth)
    }
    return row
  }

  /// Records a write or fill of an entity, even of an equal value: a write refuses fills requested
  /// before it.
  ///
  /// - Parameters:
  ///   - id: The identity of the entity.
  ///   - row: Its row; nil if it was removed.
  ///   - order: The place of the edit in the order of writes.
  ///   - commit: The commit.
  @inlinable
  func note(_ id: E.ID, _ row: Int32?, _ order: EditOrder, _ commit: Commit) {
    let revision = order.written(in: commit.revision)
    if let row {
      // An answer that changes nothing still counts as a use.
      table.touch(row, commit.now, commit.revision)
      if revision != .none { table.rows[Int(row)].written = revision }
    } else if spent.clearedAt == .none, revision != .none {
      // A removal of all makes separate records unnecessary.
      table.order.remember(id, revision)
    }
  }

  /// Collects the notices for subscribers of the type.
  @inlinable
  func finish(
    _ commit: inout Commit, _ changes: () -> [TableEdit<E>],
    confirmed: @autoclosure () -> [TableEdit<E>]? = nil
  ) {
    targets.removeAll(keepingCapacity: targets.count <= Self.fewTargets)
    let forgotten = table.order.takeForgotten()
    if !forgotten.isEmpty { commit.released.append(forgotten) }
    if table.listeners.isEmpty { return }
    commit.notices += table.notices(
      of: changes(), confirmed: confirmed(), isSilent: commit.isSilent)
  }

  @usableFromInline
  static var fewTargets: Int { 64 }

  /// References to the changed entities, in the order of the edits.
  @inlinable
  var causes: [AnyReference] {
    spent.edits.compactMap { $0.isChange ? AnyReference(Reference<E>($0.id)) : nil }
  }
}
