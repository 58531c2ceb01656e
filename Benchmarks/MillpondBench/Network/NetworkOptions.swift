/// The options of the command line after `network`.
struct NetworkOptions: RowOptions {
  var names: [String] = []
  var effort = NetworkEffort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  static let help = """
    Usage: millpond-bench network [NAME...] [--quick] [--json] [--list]

    Measures HTTPSource beside a bare URLSession with a delegate, by turns in this process, against
    an origin in this process too: what a request costs the processor, how fast a body streams, how
    soon a disposal is felt by the caller, by who waits for the slot and by the origin, and how much
    memory a large body takes on its way. Of several repetitions the median. A NAME, as
    network-cancel, is the beginning of one row's name or of several; without one, all are run,
    which takes about a minute and, for a moment, 1 GB of the disk.

      --quick      few repetitions and a tenth of the bytes: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    try read(arguments)
  }

  /// Returns the chosen rows, in the order of the table.
  func choose(from rows: [NetworkRow]) throws(OptionsError) -> [NetworkRow] {
    try rows.named(names)
  }
}
