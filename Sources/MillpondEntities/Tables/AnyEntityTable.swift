public import MillpondCore

/// A table of entities of any type, as closures that are made where the type is known.
///
/// Through a protocol or a superclass, each call would look up generic code by metadata, which takes
/// twenty times as long.
@usableFromInline
@_fixed_layout
final class AnyEntityTable: Sendable {
  /// The table, an ``EntityTable`` for the type of the entities.
  @usableFromInline let table: any AnyObject & Sendable

  // MARK: Under the lock of the tables

  /// Returns whether a live query shows the table's entities.
  @usableFromInline let isQueried: @Sendable () -> Bool

  /// Returns the greatest depth at which a subscriber notices changes of what the entities refer
  /// to.
  @usableFromInline let depth: @Sendable () -> UInt8

  /// Calls a closure with the use of each entity, stored or not.
  @usableFromInline let forEachUse: @Sendable ((EntityUse) -> Void) -> Void

  /// Returns the notices of the present commit for queries with a depth, given the rows of
  /// unchanged entities that refer to changed ones, and the number of references in between.
  @usableFromInline let deepNotices: @Sendable ([(row: Int32, distance: Int)]) -> [Notice]

  /// Records that the entity in a row is used now.
  @usableFromInline let touch: @Sendable (_ row: Int32, _ now: Int64) -> Void

  /// Empties rows whose entities are not observed; returns the notices for queries and copies.
  @usableFromInline let empty:
    @Sendable (_ rows: [Int32]) -> (released: any Sendable, notices: [Notice])

  /// Frees an empty row, and returns its contents for release after the unlock.
  @usableFromInline let forget: @Sendable (_ row: Int32) -> any Sendable

  /// Moves all entities to the first rows, if most rows are vacant, and updates their nodes; returns
  /// memory to be released after the unlock.
  @usableFromInline let rebuildIfSparse:
    @Sendable (_ graph: inout ReferenceGraph) -> (any Sendable)?

  /// Replaces the numbers of nodes by those in an array, by the former ones.
  @usableFromInline let renumber: @Sendable (_ numbers: [NodeNumber]) -> Void

  // MARK: With the turn

  /// Removes all entities of the type in the running transaction.
  @usableFromInline let removeAll: @Sendable (EntityCore, EditOrder) -> Void

  /// Confirms or undoes an optimistic write in the running transaction.
  @usableFromInline let settle: @Sendable (EntityCore, Revision, _ isConfirmed: Bool) -> Void

  /// Compares edits of the type with the stored values, and reads relations; runs users' code.
  @usableFromInline let prepare: @Sendable (_ edits: AnyObject, _ readsAgain: Bool) -> Void

  /// Applies prepared edits, under the lock.
  @usableFromInline let apply:
    @Sendable (_ edits: AnyObject, inout EntityTables, inout Commit) -> Void

  /// Returns references to the changed entities, in the order of the edits.
  @usableFromInline let causes: @Sendable (_ edits: AnyObject) -> [AnyReference]

  @inlinable
  init<E>(_ table: EntityTable<E>) {
    self.table = table
    isQueried = { table.listeners.values.contains { $0.isQuery } }
    depth = { table.depth }
    forEachUse = { table.forEachUse($0) }
    deepNotices = { table.deepNotices($0) }
    touch = { table.touch($0, $1) }
    empty = { table.empty($0) }
    forget = { table.forget($0) }
    rebuildIfSparse = { table.rebuildIfSparse(&$0) }
    renumber = { table.renumber($0) }
    removeAll = { $0.edits(of: E.self).removeAll($1) }
    settle = { $0.settle(E.self, $1, isConfirmed: $2) }
    prepare = { unsafeDowncast($0, to: EntityEdits<E>.self).prepare(readsAgain: $1) }
    apply = { unsafeDowncast($0, to: EntityEdits<E>.self).apply(to: &$1, &$2) }
    causes = { unsafeDowncast($0, to: EntityEdits<E>.self).causes }
  }
}

/// The last use of an entity: the least recent is the least.
@usableFromInline
typealias EntityUse = (touched: Int64, stored: Revision, node: NodeNumber)
