/// The options of the command line after `memory`.
struct MemoryOptions: RowOptions {
  var names: [String] = []
  var effort = MemoryEffort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  static let help = """
    Usage: millpond-bench memory [NAME...] [--quick] [--json] [--list]

    Compares MemoryCache with a dictionary under our own lock and with NSCache, in turns in this
    process: hits, misses, inserts into a full cache, and a mixture of 95 % hits and 5 % writes by
    Zipf's law (exponent 0.99); with Int, String and URL keys, from a thousand entries on, by one
    thread and by two on the same cache. Prints nanoseconds per operation of all threads together:
    the best of several repetitions, or the median with two threads. Also prints the bytes per
    entry, without keys and objects, which are made before. A NAME such as memory-hit-str-100k-2
    selects the rows whose names begin with it; without one, all rows run, which takes half an hour.

      --quick      few repetitions, no rows of a million: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    try read(arguments)
  }

  /// Returns the chosen rows in the order of the table, without those too long for the effort.
  func choose(from rows: [MemoryRow]) throws(OptionsError) -> [MemoryRow] {
    try rows.named(names).filter { $0.size <= effort.sizeLimit }
  }
}
