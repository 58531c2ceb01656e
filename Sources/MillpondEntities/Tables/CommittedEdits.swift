public import MillpondCore

/// The edits of a large commit to one table: readers see them while they are stored in the rows, in
/// steps.
@usableFromInline
struct CommittedEdits<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  /// The new value, and the revision of the write; that of a fill is none.
  @usableFromInline typealias Edit = (value: E?, written: Revision)

  /// Returns the edit of an entity.
  @usableFromInline let edit: @Sendable (E.ID) -> Edit?

  /// Returns the values that are set.
  @usableFromInline let values: @Sendable () -> [TableEdit<E>]

  @inlinable
  init(
    edit: @escaping @Sendable (E.ID) -> Edit?, values: @escaping @Sendable () -> [TableEdit<E>]
  ) {
    self.edit = edit
    self.values = values
  }
}

/// The result of a commit for one entity: its present value, or none.
@usableFromInline
package struct TableEdit<E: Identifiable & Sendable>: Sendable where E.ID: Sendable {
  @usableFromInline package let id: E.ID
  @usableFromInline package let value: E?

  @inlinable
  init(id: E.ID, value: E?) {
    self.id = id
    self.value = value
  }
}
