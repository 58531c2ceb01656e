public import MillpondCore
import MillpondSignals

extension EntityTable {
  /// Stores a value in its row, or clears the row; returns the row.
  ///
  /// The replaced value is not released here: the caller holds it.
  ///
  /// - Parameters:
  ///   - value: The new value; nil clears the row.
  ///   - id: The identity of the entity.
  ///   - known: The row, if the entity is stored.
  ///   - targets: The nodes that it refers to.
  ///   - tables: The tables.
  ///   - commit: Collects the changes.
  @inlinable
  func put(
    _ value: E?, _ id: E.ID, at known: Int32?, _ targets: ArraySlice<NodeNumber>,
    _ tables: inout EntityTables, _ commit: inout Commit
  ) -> Int32 {
    let node = known.map { rows[Int($0)].node } ?? node(of: id, in: &tables.graph)
    let row = tables.graph.nodes[Int(node)].row
    rows[Int(row)].value = value
    tables.put(value != nil, node, targets, &commit)
    if value != nil, tables.depths[Int(number)] > 0 {
      tables.graph.mark(below: CollectionOfOne(node))
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
      touch(row, commit.now)
      rows[Int(row)].stored = commit.revision
      if revision != .none { rows[Int(row)].written = revision }
    } else if revision != .none {
      self.order.remember(id, revision)
    }
  }

  /// Replaces the optimistic values of an entity.
  ///
  /// - Parameters:
  ///   - values: The values; nil if none waits.
  ///   - id: The identity of the entity.
  ///   - hidden: The nodes that hidden values refer to.
  ///   - tables: The tables.
  ///   - commit: Collects the changes.
  @usableFromInline
  func setLayers(
    _ values: OptimisticValues<E>?, of id: E.ID, _ hidden: ArraySlice<NodeNumber>,
    _ tables: inout EntityTables, _ commit: inout Commit
  ) {
    var known: Set<Revision> = []
    if let place = optimistic.index(forKey: id) {
      let former = optimistic.remove(at: place)
      known = Set(former.value.values.waiting)
      tables.unretained += former.value.nodes
      commit.released.append(former)
    }
    guard let values else { return }
    let nodes = [node(of: id, in: &tables.graph)] + hidden
    for node in nodes { tables.retain(node) }
    optimistic[id] = (values, nodes)
    for revision in values.waiting where !known.contains(revision) {
      optimisticWrites[revision, default: []].append(id)
    }
  }

  /// Announces the edits of a commit to the subscribers of the type.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - visible: Returns the edits of what readers see.
  ///   - confirmed: Returns the edits of confirmed values; nil if they are the same.
  @inlinable
  func finish(
    _ commit: inout Commit, _ visible: () -> [TableEdit<E>],
    confirmed: @autoclosure () -> [TableEdit<E>]? = nil
  ) {
    let forgotten = order.takeForgotten()
    if !forgotten.isEmpty { commit.released.append(forgotten) }
    if listeners.isEmpty { return }
    let visible = visible()
    announced = (visible, confirmed() ?? visible)
    commit.isAnnounced = true
  }
}
