import Foundation
import LocalRedis

/// A family of benchmarks that makes a section of the page.
struct ReportFamily: NamedRow, Sendable {
  let name: String
  let title: String

  /// The command line that measures the same.
  var command: String { name == "rows" ? "millpond-bench" : "millpond-bench \(name)" }

  /// Measures all rows; calls its second parameter after each, with its name and the number so far.
  let measure: @Sendable (_ isQuick: Bool, _ report: (String, Int) -> Void) throws -> FamilyResult

  static let all = [
    ReportFamily(name: "rows", title: "Signals and compositions", measure: measureRows),
    ReportFamily(name: "memory", title: "Memory", measure: measureMemory),
    ReportFamily(name: "disk", title: "Disk", measure: measureDisk),
    ReportFamily(name: "network", title: "Network", measure: measureNetwork),
    ReportFamily(name: "entities", title: "Entities", measure: measureEntities),
    ReportFamily(name: "redis", title: "A shared server", measure: measureRedis),
    ReportFamily(name: "worst", title: "Worst cases", measure: measureWorst),
    ReportFamily(name: "hit-ratio", title: "Hit ratio", measure: measureHitRatio),
  ]
}

/// The results of a family, as text.
struct FamilyResult {
  /// The explanation of the columns; empty without results.
  var legend = ""
  var titles: [String] = []
  var leftAligned: Set<Int> = []
  var rows: [Row] = []
  var picture: Drawing?

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
    isRight: (Line) -> Bool
  ) {
    legend = type(of: table).legend
    titles = table.titles
    leftAligned = table.columns.leftAligned
    rows = lines.map { Row(cells: table.cells($0), summary: summary($0)) }
    self.isRight = lines.allSatisfy(isRight)
  }

  fileprivate func drawn(_ picture: Drawing) -> FamilyResult {
    var copy = self
    copy.picture = picture
    return copy
  }
}

@Sendable private func measureRows(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  let rows = allRows()
  var lines: [Measurement] = []
  for row in rows {
    lines.append(measure(row, isQuick ? .quick : .full))
    report(row.name, lines.count)
  }
  return FamilyResult(Table(for: rows), lines, summary: \.summary, isRight: \.isSumRight)
    .drawn(BarChart(of: lines).onPage)
}

@Sendable private func measureMemory(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  let effort = isQuick ? MemoryEffort.quick : .full
  let rows = MemoryRow.all.filter { $0.size <= effort.sizeLimit }
  var lines: [MemoryMeasurement] = []
  measure(rows, effort) { line in
    lines.append(line)
    report(line.name, lines.count)
  }
  return FamilyResult(MemoryTable(for: rows), lines, summary: \.summary, isRight: \.isSumRight)
    .drawn(BarChart(of: lines).onPage)
}

@Sendable private func measureDisk(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  let folder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
  defer { folder.clear() }
  var lines: [DiskMeasurement] = []
  try measure(DiskRow.all, isQuick ? .quick : .full, at: folder) { line in
    lines.append(line)
    report(line.name, lines.count)
  }
  return FamilyResult(
    DiskTable(for: DiskRow.all), lines, summary: \.summary, isRight: \.isSumRight
  ).drawn(BarChart(of: lines).onPage)
}

@Sendable private func measureNetwork(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  try measure(NetworkRow.all, isQuick, report)
}

@Sendable private func measureRedis(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  guard LocalRedis.program != nil else {
    var nothing = FamilyResult(failure: "Neither redis-server nor valkey-server is installed.")
    nothing.isRight = true
    return nothing
  }
  var result = try measure(RedisRows.all, isQuick, report)
  result.legend = RedisRows.legend
  return result
}

private func measure(
  _ rows: [NetworkRow], _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  var lines: [NetworkMeasurement] = []
  for row in rows {
    lines.append(NetworkMeasurement(row, try row.measure(isQuick ? .quick : .full)))
    report(row.name, lines.count)
  }
  return FamilyResult(NetworkTable(for: rows), lines, summary: \.summary, isRight: \.isSumRight)
}

@Sendable private func measureEntities(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  var lines: [EntityMeasurement] = []
  for row in EntityRow.all {
    lines.append(EntityMeasurement(row, row.measure(isQuick ? .quick : .full)))
    report(row.name, lines.count)
  }
  return FamilyResult(
    EntityReport(for: EntityRow.all), lines, summary: \.summary, isRight: \.isSumRight
  ).drawn(BarChart(of: lines).onPage)
}

@Sendable private func measureWorst(
  _ isQuick: Bool, _ report: (String, Int) -> Void
) throws -> FamilyResult {
  let effort = isQuick ? WorstEffort.quick : .full
  var lines: [WorstMeasurement] = []
  for row in WorstRow.all {
    lines.append(try row.measure(effort))
    report(row.name, lines.count)
  }
  return FamilyResult(
    WorstTable(for: WorstRow.all, effort), lines, summary: \.summary, isRight: \.isSumRight
  ).drawn(BarChart(of: lines, effort).onPage)
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
  var chart = LineChart(of: cells)
  chart.palette = .ofPage
  return result.drawn(chart.drawn())
}

extension BarChart {
  fileprivate var onPage: Drawing {
    var copy = self
    copy.palette = .ofPage
    return copy.drawn()
  }
}
