public import MillpondCore
import MillpondSignals

extension EntityEdits {
  /// Compares with what is stored, and reads the relations of what changes.
  ///
  /// The user's code that runs here may write, which is for the next commit.
  ///
  /// - Parameter readsAgain: Whether something was committed since this was written.
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
  }

  /// Notes whom a value refers to, so that they are kept until the commit; gives where that is noted.
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

  /// Carries out what was prepared.
  @inlinable
  func apply(to tables: inout EntityTables, _ commit: inout Commit) {
    if spent.clearedAt != .none { _ = table.order.admitAll(commit.revision) }
    for place in spent.edits.indices {
      let (id, isStored) = (spent.edits[place].id, spent.edits[place].value != nil)
      // The row of what is not stored may have been given to another by now.
      var row = spent.edits[place].stored.value == nil ? nil : spent.edits[place].stored.row
      if spent.edits[place].isChange {
        row = put(
          spent.edits[place].value, id, at: row, spent.edits[place].targets, in: &tables, &commit)
      }
      note(id, isStored ? row : nil, spent.edits[place].order, commit)
    }
    finish(&commit) {
      spent.edits.compactMap { $0.isChange ? TableEdit(id: $0.id, value: $0.value) : nil }
    }
  }

  /// Puts a value in its place, or takes it out; gives the row.
  ///
  /// What is replaced is not released here: the caller has it.
  ///
  /// - Parameters:
  ///   - known: Where it is, if it is stored.
  ///   - range: Where it is noted whom it refers to.
  @inlinable
  func put(
    _ value: E?, _ id: E.ID, at known: Int32?, _ range: Range<Int>, in tables: inout EntityTables,
    _ commit: inout Commit
  ) -> Int32 {
    let node = known.map { table.rows[Int($0)].node } ?? table.node(of: id, in: &tables.graph)
    let row = tables.graph.nodes[Int(node)].row
    table.rows[Int(row)].value = value
    tables.put(value != nil, node, targets, range, &commit)
    return row
  }

  /// Notes that an entity was written or filled, though maybe nothing new: after a write, what a source
  /// was asked for before comes too late.
  ///
  /// - Parameter row: Where it is; nil of one that was removed.
  @inlinable
  func note(_ id: E.ID, _ row: Int32?, _ order: EditOrder, _ commit: Commit) {
    let revision =
      switch order {
      case .fill: Revision.none
      case .commit: commit.revision
      case .drawn(let revision): revision
      }
    if let row {
      // An answer that changes nothing is a use all the same.
      table.touch(row, commit.now, commit.revision)
      if revision != .none { table.rows[Int(row)].written = revision }
    } else if spent.clearedAt == .none, revision != .none {
      // After a removal of all there is no need to remember each.
      table.order.remember(id, revision)
    }
  }

  /// Leaves the notices of those who are told of the type.
  @inlinable
  func finish(_ commit: inout Commit, _ changes: () -> [TableEdit<E>]) {
    targets.removeAll(keepingCapacity: targets.count <= Self.fewTargets)
    let forgotten = table.order.takeForgotten()
    if !forgotten.isEmpty { commit.released.append(forgotten) }
    if table.listeners.isEmpty { return }
    commit.notices += table.notices(of: changes(), isSilent: commit.isSilent)
  }

  @usableFromInline
  static var fewTargets: Int { 64 }

  /// References to what has changed, in the order in which it was applied.
  @inlinable
  var causes: [AnyReference] {
    spent.edits.compactMap { $0.isChange ? AnyReference(Reference<E>($0.id)) : nil }
  }
}
