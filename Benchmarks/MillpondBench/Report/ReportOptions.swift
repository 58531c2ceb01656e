/// The options of the command line after `report`.
struct ReportOptions {
  var names: [String] = []
  var isQuick = false
  var wantsList = false
  var wantsHelp = false

  /// The file of the page; nil if it is not named.
  var file: String?

  static let help = """
    Usage: millpond-bench report [FAMILY...] --out FILE [--quick] [--list]

    Runs the families of benchmarks one after the other, and writes one page in HTML with their
    tables and drawings, the machine, and the version. The page needs nothing from elsewhere. A
    FAMILY such as disk selects the families whose names begin with it; without one, all of them
    run, which takes about an hour. The page is written anew after each family.

      --out FILE   the page
      --quick      few repetitions: checks the sums, the figures mean little
      --list       prints the names of the families
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong or a family failed, which the
    page says too; 2 for bad arguments, or a FILE that can't be written, which is checked before
    anything is measured.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick": isQuick = true
      case "--list": wantsList = true
      case "--out": file = try rest.value(of: argument, "a file")
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: names.append(name)
      }
    }
  }
}
