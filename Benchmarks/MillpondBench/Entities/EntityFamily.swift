import MillpondEntities
/// The rows about the entity store.
struct EntityFamily: RowFamily {
  static let name = "entities"
  static let title = "Entities"

  static let help = """
    Usage: millpond-bench entities [NAME...] [--quick] [--json] [--list]

    Measures EntityStore: reads, compared with a dictionary under our own lock; writes with and
    without observers; notices; a change of three objects among a thousand and among a million; a
    change that is observed through a chain of 100,000; queries; and the bytes that an entity takes
    besides its value. Prints the best of several repetitions. A NAME such as entities-touch
    selects the rows whose names begin with it; without one, all rows run, which takes about a
    minute.

      --quick      few repetitions, 1 % of the objects: checks the sums; the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  static var allRows: [EntityRow] { EntityRow.all }

  private let effort: EntityEffort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func table(for rows: [EntityRow]) -> EntityReport { EntityReport(for: rows) }

  func measure(_ rows: [EntityRow], _ report: (EntityMeasurement) -> Void) {
    for row in rows { report(EntityMeasurement(row, row.measure(effort))) }
  }

}

extension EntityMeasurement: RowLine {
  var multiple: Double? { ratio }
}

/// The number of repetitions, and of operations in each.
struct EntityEffort {
  let repetitions: Int
  let operations: Int

  /// The divisor of the sizes of the rows.
  let divisor: Int

  static let full = EntityEffort(repetitions: 9, operations: 20_000, divisor: 1)

  /// Enough to find a wrong sum.
  static let quick = EntityEffort(repetitions: 2, operations: 200, divisor: 100)
}
