/// The options of the command line.
struct Options {
  var names: [String] = []
  var effort = Effort.full
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  /// The file for a picture; nil for none.
  var picture: String?

  static let help = """
    Usage: millpond-bench [NAME...] [--quick] [--json] [--svg FILE] [--list]
           millpond-bench memory [NAME...] [--quick] [--json] [--list]
           millpond-bench disk [NAME...] [--folder DIR] [--quick] [--json] [--svg FILE] [--list]
           millpond-bench network [NAME...] [--quick] [--json] [--list]
           millpond-bench entities [NAME...] [--quick] [--json] [--list]
           millpond-bench redis [NAME...] [--quick] [--json] [--list]
           millpond-bench worst [NAME...] [--quick] [--json] [--list]
           millpond-bench hit-ratio [--traces DIR] [--quick] [--json] [--svg FILE]
           millpond-bench report [FAMILY...] --out FILE [--quick]

    memory and disk compare those caches with others, network compares HTTPSource with a bare
    URLSession, redis compares RedisCache with the server's own tool, entities measures EntityStore,
    worst measures how bulk operations grow and how long other threads wait for them, hit-ratio
    counts hits on traces, report makes one page of them all; see the --help of each. The rest of
    this text is about the rows without such a command.

    Measures each row and the physical floor of the same work, in turns in this process, and prints
    nanoseconds per operation: the best of several repetitions, or the median if threads contend. A
    NAME selects the rows whose names begin with it; without one, all rows run.

    Compare the ratios to the floor: nanoseconds differ from machine to machine and from hour to
    hour. Targets were set on the machine on which the floors were measured. A row has "met" its
    target, or only "by ratio" (in more nanoseconds, on a slower machine) or "by ns" (on a faster
    one), or has "missed" it; "mallocs" means more allocations than its target.

      --quick      few repetitions: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --svg FILE   also draws the table into FILE, as bars on a log scale
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments, or a
    FILE that can't be written, which is checked before anything is measured.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick": effort = .quick
      case "--json": isJSON = true
      case "--list": wantsList = true
      case "--svg": picture = try rest.value(of: argument, "a file")
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: names.append(name)
      }
    }
  }

  /// Returns the chosen rows, in the order of the table.
  func choose(from rows: [Row]) throws(OptionsError) -> [Row] {
    try rows.named(names)
  }
}

extension IteratorProtocol<String> {
  /// Returns the value after an option.
  ///
  /// - Throws: ``OptionsError`` when nothing does, or the next option.
  mutating func value(of option: String, _ meaning: String) throws(OptionsError) -> String {
    guard let value = next(), !value.isEmpty, !value.hasPrefix("-") else {
      throw .valueMissing(option, meaning)
    }
    return value
  }
}

/// A mistake in a command line.
enum OptionsError: Error, CustomStringConvertible {
  case unknownOption(String)
  case unknownRow(String)
  case unexpected(String)
  case valueMissing(String, String)

  var description: String {
    switch self {
    case .unknownOption(let option): "unknown option \(option); see --help"
    case .unknownRow(let name): "no row is called \(name); see --list"
    case .unexpected(let name): "unexpected argument \(name); see --help"
    case .valueMissing(let option, let value): "\(option) needs \(value) after it; see --help"
    }
  }
}
