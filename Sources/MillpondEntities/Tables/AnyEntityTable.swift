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

  /// Calls a closure with the use of each entity, stored or not.
  @usableFromInline let forEachUse: @Sendable ((EntityUse) -> Void) -> Void

  /// Returns the notices of the present commit for subscribers of the type, given the rows of
  /// unchanged entities that refer to changed ones, and the number of references in between.
  @usableFromInline let takeNotices:
    @Sendable (_ related: [(row: Int32, distance: Int)], _ isSilent: Bool) -> [Notice]

  /// Records that the entity in a row is used now.
  @usableFromInline let touch: @Sendable (_ row: Int32, _ now: Int64) -> Void

  /// Empties rows whose entities are not observed.
  @usableFromInline let empty: @Sendable (_ rows: [Int32], inout Commit) -> Void

  /// Frees an empty row, and returns its contents for release after the unlock.
  @usableFromInline let forget: @Sendable (_ row: Int32) -> any Sendable

  /// Returns whether three quarters of the rows are vacant.
  @usableFromInline let isSparse: @Sendable () -> Bool

  /// Moves all entities to the first rows, given the new numbers of the nodes; returns memory to be
  /// released after the unlock.
  @usableFromInline let rebuild:
    @Sendable (_ numbers: [NodeNumber], _ graph: inout ReferenceGraph) -> any Sendable

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
    forEachUse = { table.forEachUse($0) }
    takeNotices = { table.takeNotices($0, isSilent: $1) }
    touch = { table.touch($0, $1) }
    empty = { table.empty($0, &$1) }
    forget = { table.forget($0) }
    isSparse = { table.isSparse }
    rebuild = { table.rebuild($0, &$1) }
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
