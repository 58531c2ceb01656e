/// The arguments of the program.
struct Options {
  /// The rows and groups to measure; empty for all.
  private(set) var names: [String] = []

  private var given: [String: String] = [:]

  /// Reads the arguments.
  ///
  /// - Throws: ``Trouble`` for anything that has no meaning.
  init(_ arguments: some Sequence<String>) throws(Trouble) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick", "--json", "--list", "--help": given[argument] = ""
      case "--folder", "--traces", "--out":
        guard let path = rest.next(), !path.isEmpty, !path.hasPrefix("-") else {
          throw Trouble("\(argument) needs a path after it; see --help")
        }
        given[argument] = path
      case _ where argument.hasPrefix("-"): throw Trouble("\(argument) is unknown; see --help")
      default: names.append(argument)
      }
    }
    let isReport = names.first == "report"
    if isReport { names.removeFirst() }
    if isReport != has("--out"), !has("--help") {
      throw Trouble("report needs --out FILE, and nothing else has it; see --help")
    }
  }

  /// Whether an option was given.
  func has(_ option: String) -> Bool { given[option] != nil }

  /// Returns the path of an option; nil if it was not given.
  subscript(option: String) -> String? { given[option] }

  static let help = """
    Usage: millpond-bench [NAME...] [--quick] [--json] [--list] [--folder DIR] [--traces DIR]
           millpond-bench report --out FILE [NAME...] [--quick]

    Measures rows beside their floors, by turns in this process. A NAME is a group, or the beginning
    of the names of rows; without one, all rows run, which takes about half an hour.

    Groups:
    \(Group.all.map { "  " + $0.name.padded(to: 13) + $0.summary }.joined(separator: "\n"))

      report       also writes one page in HTML, anew after each group
      --out FILE   the page
      --quick      little work: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --folder DIR makes the files in a folder of DIR, which it removes afterwards; by default in
                   the system's temporary directory
      --traces DIR for hit-ratio: replays the traces NAME.u64 and NAME.u64.xz in DIR, which are keys
                   of 8 bytes, little-endian
      --help       this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong or a row failed; 2 for bad
    arguments, or a DIR or FILE that can't be written.
    """
}

extension String {
  /// The text with spaces at its end.
  func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - self.count))
  }
}
