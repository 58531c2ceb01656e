/// The arguments of the program.
struct Options {
  /// The rows and groups to measure; empty for all.
  var names: [String] = []

  /// Whether a page is to be made.
  var isReport = false

  private var given: [String: String] = [:]

  /// The options, and the meaning of their values; empty for those without one.
  private static let meanings = [
    "--folder": "a folder", "--traces": "a folder", "--out": "a file", "--quick": "",
    "--list": "", "--json": "", "--help": "", "-h": "",
  ]

  /// Reads the arguments.
  ///
  /// - Throws: ``OptionsError`` for anything that has no meaning.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      if let meaning = Self.meanings[argument] {
        given[argument] = meaning.isEmpty ? "" : try Self.value(rest.next(), of: argument, meaning)
      } else if argument.hasPrefix("-") {
        throw .unknownOption(argument)
      } else if argument == "report", names.isEmpty {
        isReport = true
      } else {
        names.append(argument)
      }
    }
    if isReport, has("--json") { throw .unknownOption("--json") }
    if !isReport, has("--out") { throw .unknownOption("--out") }
    if isReport, !has("--out"), !has("--help"), !has("--list") {
      throw .valueMissing("report", "--out FILE")
    }
  }

  /// Whether an option was given.
  func has(_ option: String) -> Bool { given[option] != nil }

  /// Returns the value of an option; nil if it was not given.
  subscript(option: String) -> String? { given[option] }

  private static func value(
    _ value: String?, of option: String, _ meaning: String
  ) throws(OptionsError) -> String {
    guard let value, !value.isEmpty, !value.hasPrefix("-") else {
      throw .valueMissing(option, meaning)
    }
    return value
  }

  static let help = """
    Usage: millpond-bench [NAME...] [--quick] [--json] [--list]
                          [--folder DIR] [--traces DIR]
           millpond-bench report --out FILE [NAME...] [--quick]

    Measures rows beside their floors, by turns in this process, and prints the best of several
    repetitions, or the median where threads or processes meet. A NAME is a group, or the beginning
    of the names of rows; without one, all rows run, which takes about half an hour.

    Compare the multiples of the floors: times differ from machine to machine and from hour to
    hour. A row that has a target has met or missed it; one is WRONG whose work was not done.

    Groups:
    \(Group.all.map { "  " + $0.name.padded(to: 13) + $0.summary }.joined(separator: "\n"))

      report       writes one page in HTML, anew after each group; it needs nothing from elsewhere
      --out FILE   the page
      --quick      little work: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --folder DIR makes the files in a folder of DIR, which it removes afterwards; by default in
                   the system's temporary directory
      --traces DIR for hit-ratio: replays the traces in DIR and its subfolders. NAME.u64 has keys of
                   8 bytes, NAME.u64u32 keys and sizes of 4 bytes in turn, all little-endian; one
                   that ends in .xz needs the command xz
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong or a row failed; 2 for bad
    arguments, or a DIR or FILE that can't be written, which is checked before anything is measured.
    """
}

/// A mistake in a command line.
enum OptionsError: Error, CustomStringConvertible {
  case unknownOption(String)
  case unknownRow(String)
  case valueMissing(String, String)

  var description: String {
    switch self {
    case .unknownOption(let option): "\(option) has no meaning here; see --help"
    case .unknownRow(let name): "no row is called \(name); see --list"
    case .valueMissing(let option, let value): "\(option) needs \(value) after it; see --help"
    }
  }
}

extension String {
  /// The text with spaces at its end.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}
