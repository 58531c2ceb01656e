/// The options of the command line after `entities`.
struct EntityOptions: RowOptions {
  var names: [String] = []
  var effort = EntityEffort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  static let help = """
    Usage: millpond-bench entities [NAME...] [--quick] [--json] [--list]

    Measures EntityStore: reads beside a dictionary under our own lock, writes with and without
    observers, how long a notice takes, how a change that touches three objects costs among a
    thousand and among a million, how far a change goes up a chain of 100,000, what a query costs,
    and how many bytes an entity takes besides its value. Of several repetitions the best. A NAME,
    as entities-touch, is the beginning of one row's name or of several; without one, all are run,
    which takes about a minute.

      --quick      few repetitions, a hundredth of the objects: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    try read(arguments)
  }
}

/// The number of repetitions, and of operations in each.
struct EntityEffort: QuickEffort {
  let repetitions: Int
  let operations: Int

  /// The divisor of the sizes of the rows.
  let divisor: Int

  static let full = EntityEffort(repetitions: 9, operations: 20_000, divisor: 1)

  /// Enough to find a wrong sum.
  static let quick = EntityEffort(repetitions: 2, operations: 200, divisor: 100)
}
