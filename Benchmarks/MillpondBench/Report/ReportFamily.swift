/// A family of benchmarks that makes a section of the page.
struct ReportFamily: NamedRow, Sendable {
  let name: String
  let title: String
  var summary: String { title }

  /// The command line that measures the same.
  var command: String { name == "rows" ? "millpond-bench" : "millpond-bench \(name)" }

  /// Measures all rows; calls its second parameter after each, with its name and the number so far.
  let measure: @Sendable (_ isQuick: Bool, _ report: (String, Int) -> Void) throws -> FamilyResult

  static let all =
    families.map { ReportFamily($0) } + [
      ReportFamily(name: "hit-ratio", title: "Hit ratio", measure: measureHitRatio)
    ]

  static let help = """
    Usage: millpond-bench report [FAMILY...] --out FILE [--quick] [--list]

    Runs the families of benchmarks one after the other, and writes one page in HTML with their
    tables, the machine, and the version. The page needs nothing from elsewhere. A
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
}

extension ReportFamily {
  fileprivate init(_ family: any RowFamily.Type) {
    self.init(name: family.name, title: family.title) { isQuick, report in
      try result(of: family, isQuick, report)
    }
  }
}

private func result<Family: RowFamily>(
  of _: Family.Type, _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  if let obstacle = Family.obstacle {
    var nothing = FamilyResult(failure: "\(obstacle)")
    nothing.isRight = true
    return nothing
  }
  let family = Family(try Options(isQuick ? ["--quick"] : []))
  let rows = family.feasible(Family.allRows)
  var lines: [Family.Line] = []
  try family.measure(rows) { line in
    lines.append(line)
    report(line.name, lines.count)
  }
  var result = FamilyResult(
    family.table(for: rows), lines, summary: \.summary, multiple: \.multiple,
    isRight: \.isSumRight)
  result.legend = Family.legend
  return result
}

@Sendable private func measureHitRatio(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  let options = try HitRatioOptions(isQuick ? ["--quick"] : [])
  let sources = try options.sources()
  var cells: [HitRatioCell] = []
  for source in sources {
    cells += HitRatioComparison(try source.trace()).cells(at: options.percents)
    report(source.name, cells.count)
  }
  var result = FamilyResult(HitRatioTable(for: sources), cells, isRight: \.isPossible)
  result.summary = HitRatioSummary(of: cells).description
  return result
}

/// The results of a family, as text.
struct FamilyResult {
  /// The explanation of the columns; empty without results.
  var legend = ""
  var titles: [String] = []
  var leftAligned: Set<Int> = []
  var rows: [Row] = []
  /// The sum of it in words; nil without one.
  var summary: String?

  /// The reason why there are no results; nil if there are.
  var failure: String?

  /// Whether every row had the right sum, or the family could not be measured on this machine.
  var isRight = true

  /// A line of the table.
  struct Row {
    let cells: [String]

    /// The explanation of the row; empty without one.
    let summary: String

    /// Ours as a multiple of the floor, or of what the row is compared with; nil if there is none.
    var multiple: Double?
  }
}

extension FamilyResult {
  /// Creates a failure.
  init(failure: String) {
    self.failure = failure
    isRight = false
  }

  /// Creates the results from a table.
  init<Line>(
    _ table: some ResultTable<Line>, _ lines: [Line], summary: (Line) -> String = { _ in "" },
    multiple: (Line) -> Double? = { _ in nil }, isRight: (Line) -> Bool
  ) {
    legend = type(of: table).legend
    titles = table.titles
    leftAligned = table.columns.leftAligned
    rows = lines.map { Row(cells: table.cells($0), summary: summary($0), multiple: multiple($0)) }
    self.isRight = lines.allSatisfy(isRight)
  }
}
