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
    for place in edits.indices {
      if readsAgain {
        let former = edits[place].stored
        edits[place].stored = stored(edits[place].id)
        withExtendedLifetime(former) {}
      }
      let (value, old) = (edits[place].value, edits[place].stored.value)
      if value != old {
        edits[place].isChange = true
        if let value { edits[place].targets = core.readRelations(of: value, relations) }
      }
      if edits[place].isOptimistic {
        prepareLayers(at: place)
      } else {
        edits[place].isConfirmedChange = edits[place].isChange
      }
    }
  }

  /// Compares the confirmed value with the former one, and reads the relations of hidden ones.
  @usableFromInline
  func prepareLayers(at place: Int) {
    let edit = edits[place]
    edits[place].isConfirmedChange = edit.confirmed != Edit(edit.id, edit.stored).confirmed
    let start = core.targets.count
    for value in edit.layers?.hidden ?? [] { _ = core.readRelations(of: value, relations) }
    edits[place].hiddenTargets = start..<core.targets.count
  }

  /// Applies the prepared edits, under the lock.
  @inlinable
  func apply(to tables: inout EntityTables, _ commit: inout Commit) {
    if clearedAt != .none { _ = table.order.admitAll(commit.revision) }
    for place in edits.indices {
      let (id, isStored) = (edits[place].id, edits[place].value != nil)
      if edits[place].isOptimistic {
        table.setLayers(
          edits[place].layers, of: id, core.targets[edits[place].hiddenTargets], &tables, &commit)
      }
      // The row of an entity that is not stored may belong to another one by now.
      var row = edits[place].stored.value == nil ? nil : edits[place].stored.row
      if edits[place].isChange {
        row = table.put(
          edits[place].value, id, at: row, core.targets[edits[place].targets], &tables, &commit)
      }
      // A removal of all makes separate records of removals unnecessary.
      if isStored || clearedAt == .none {
        table.note(id, isStored ? row : nil, edits[place].order, commit)
      }
    }
    table.finish(&commit, { changes(\.isChange, \.value) }, confirmed: confirmedChanges)
  }

  @inlinable
  func changes(
    _ isChange: (Edit<E>) -> Bool, _ value: (Edit<E>) -> E?
  ) -> [TableEdit<E>] {
    edits.compactMap { isChange($0) ? TableEdit(id: $0.id, value: value($0)) : nil }
  }

  /// The changes of confirmed values, for copies of the store; nil if they are those of the visible
  /// ones.
  @usableFromInline
  var confirmedChanges: [TableEdit<E>]? {
    edits.contains(where: \.isOptimistic) ? changes(\.isConfirmedChange, \.confirmed) : nil
  }

  /// References to the changed entities, in the order of the edits.
  @inlinable
  var causes: [AnyReference] {
    edits.compactMap { $0.isChange ? AnyReference(Reference<E>($0.id)) : nil }
  }
}
