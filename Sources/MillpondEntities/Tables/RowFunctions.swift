import MillpondCore

/// The functions of a table that are called for many rows in a row, as closures that are made where
/// the type of the entities is known.
///
/// Through the protocol, each call would look up generic code by metadata, which takes many times
/// as long.
@usableFromInline
struct RowFunctions: Sendable {
  /// Returns the last use of the stored entity in a row.
  let use: @Sendable (_ row: Int32) -> EntityUse

  /// Empties rows whose entities are not observed; returns the notices for queries and copies.
  let empty: @Sendable (_ rows: [Int32]) -> (released: any Sendable, notices: [Notice])

  /// Frees an empty row, and returns its contents for release after the unlock.
  let forget: @Sendable (_ row: Int32) -> any Sendable

  @usableFromInline
  init(
    use: @escaping @Sendable (Int32) -> EntityUse,
    empty: @escaping @Sendable ([Int32]) -> (released: any Sendable, notices: [Notice]),
    forget: @escaping @Sendable (Int32) -> any Sendable
  ) {
    (self.use, self.empty, self.forget) = (use, empty, forget)
  }
}

extension RowFunctions {
  @inlinable
  init<E>(of table: EntityTable<E>) {
    self.init(
      use: { row in
        EntityUse(
          touched: table.rows[Int(row)].touched, stored: table.rows[Int(row)].stored)
      },
      empty: { table.empty($0) }, forget: { table.forget($0) })
  }
}
