/// The options of the command line after `disk`.
struct DiskOptions {
  var names: [String] = []
  var effort = DiskEffort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  /// The parent of the working folder; nil for the system's temporary directory.
  var folder: String?

  /// The file for a picture; nil for none.
  var picture: String?

  static let help = """
    Usage: millpond-bench disk [NAME...] [--folder DIR] [--quick] [--json] [--svg FILE] [--list]

    Compares DiskCache with the least possible work, in turns in this process, and prints
    microseconds per operation, the best of several repetitions: puts, gets, tests and removals of
    values from 100 bytes on, and the opening of a folder. Then it prints the bytes per entry on
    disk and in memory; and, while every key is set ten times in random order, the bytes written
    for each byte set, and the durations of a set and of its outcome. A NAME such as disk-get-16k
    selects the rows whose names begin with it; without one, all rows run, which takes some
    minutes and up to 300 MB of disk space.

      --folder DIR  makes the working folder in DIR, and removes it afterwards; by default in the
                    system's temporary directory
      --quick       few values and repetitions: checks the sums, the figures mean little
      --json        one JSON document instead of the table
      --svg FILE    also draws the rows in microseconds into FILE, as bars on a log scale
      --list        prints the names of the rows, and what they measure
      --help, -h    this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments, or a DIR
    or FILE that can't be written, which is checked before anything is measured.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick": effort = .quick
      case "--json": isJSON = true
      case "--list": wantsList = true
      case "--folder": folder = try rest.value(of: argument, "a folder")
      case "--svg": picture = try rest.value(of: argument, "a file")
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: names.append(name)
      }
    }
  }

  /// Returns the chosen rows, in the order of the table.
  func choose(from rows: [DiskRow]) throws(OptionsError) -> [DiskRow] {
    try rows.named(names)
  }
}
