/// The options of the command line after `memory`.
struct MemoryOptions: RowOptions {
  var names: [String] = []
  var effort = MemoryEffort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  static let help = """
    Usage: millpond-bench memory [NAME...] [--quick] [--json] [--list]

    Measures MemoryCache beside a dictionary under our own lock and beside NSCache, by turns in this
    process: hits, misses, inserts into a full cache, and a mixture of 95 % hits and 5 % writes by
    Zipf's law (exponent 0.99); by Int, String and URL keys, among a thousand entries and more, by
    one thread and by two on the same cache. Prints nanoseconds per operation of all threads
    together: the best of several repetitions, or the median where there are two threads. And bytes
    per entry, without those of keys and objects, which are made before. A NAME, as
    memory-hit-str-100k-2, is the beginning of one row's name or of several; without one, all are
    run, which takes half an hour.

      --quick      few repetitions, no rows of a million: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       the names of the rows, and what they measure
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
