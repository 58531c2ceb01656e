/// What the command line asks for.
struct Options {
  var names: [String] = []
  var effort = Effort.full
  var isJSON = false
  var wantsHelp = false

  static let help = """
    usage: millpond-bench [name…] [--quick] [--json] [--list]

    Measures each row beside the physical floor of the same work, in this process, and prints
    nanoseconds per operation, best of several repetitions. A name may be the beginning of several.

      --quick   few repetitions: checks the sums, the figures mean little
      --json    one JSON document instead of the table
      --list    the names of the rows
      --help    this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  var wantsList = false

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    for argument in arguments {
      switch argument {
      case "--quick": effort = .quick
      case "--json": isJSON = true
      case "--list": wantsList = true
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: names.append(name)
      }
    }
  }

  /// The rows that are asked for, in the order of the table.
  func choose(from rows: [Row]) throws(OptionsError) -> [Row] {
    for name in names where !rows.contains(where: { $0.name.hasPrefix(name) }) {
      throw .unknownRow(name)
    }
    return names.isEmpty
      ? rows : rows.filter { row in names.contains { row.name.hasPrefix($0) } }
  }
}

/// What is wrong with a command line.
enum OptionsError: Error, CustomStringConvertible {
  case unknownOption(String)
  case unknownRow(String)

  var description: String {
    switch self {
    case .unknownOption(let option): "unknown option \(option); see --help"
    case .unknownRow(let name): "no row is called \(name); see --list"
    }
  }
}
