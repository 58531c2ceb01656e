import Foundation

/// A command of the bench: rows that are measured and shown in the same way.
protocol RowFamily: SendableMetatype {
  associatedtype MeasuredRow: NamedRow
  associatedtype Line: RowLine
  associatedtype LineTable: ResultTable<Line>

  static var name: String { get }
  static var title: String { get }
  static var help: String { get }

  /// The options with a value, and the meaning of that.
  static var valued: [String: String] { get }

  /// The explanation of the columns.
  static var legend: String { get }

  /// All rows, in the order of the table.
  static var allRows: [MeasuredRow] { get }

  /// What the rows lack on this machine; nil if they can be measured.
  static var obstacle: String? { get }

  init(_ options: Options)

  /// Returns the rows without those that are too long for the effort.
  func feasible(_ rows: [MeasuredRow]) -> [MeasuredRow]

  func table(for rows: [MeasuredRow]) -> LineTable

  /// Measures the rows, and reports each as soon as it is known.
  func measure(_ rows: [MeasuredRow], _ report: (Line) -> Void) throws
}

/// The result of a row.
protocol RowLine: Encodable {
  var name: String { get }
  var summary: String { get }
  var isSumRight: Bool { get }

  /// Ours as a multiple of the floor, or of what the row is compared with; nil if there is none.
  var multiple: Double? { get }
}

extension RowFamily {
  static var valued: [String: String] { [:] }
  static var legend: String { LineTable.legend }
  static var obstacle: String? { nil }

  func feasible(_ rows: [MeasuredRow]) -> [MeasuredRow] { rows }
}

/// Measures the rows of a family that the arguments name, prints them as a table or as JSON, and
/// returns the exit code.
func run<Family: RowFamily>(
  _: Family.Type, _ arguments: some Sequence<String>
) throws -> Int32 {
  let options = try Options(arguments, valued: Family.valued)
  let chosen = try Family.allRows.named(options.names)
  if options.wantsHelp {
    print(Family.help)
  } else if options.wantsList {
    printList(chosen.map { ($0.name, $0.summary) })
  } else if let obstacle = Family.obstacle {
    print("\(obstacle): nothing is measured")
  } else {
    return try run(Family(options), chosen, options)
  }
  return 0
}

private func run<Family: RowFamily>(
  _ family: Family, _ chosen: [Family.MeasuredRow], _ options: Options
) throws -> Int32 {
  let rows = family.feasible(chosen)
  keepCompany()
  let table = family.table(for: rows)
  if !options.isJSON { print(Family.legend, table.header, separator: "\n\n") }
  var lines: [Family.Line] = []
  try family.measure(rows) { line in
    lines.append(line)
    if !options.isJSON { print(table.line(line)) }
    // At once, also into a file: some rows take a while.
    fflush(nil)
  }
  if options.isJSON { print(try Document(rows: lines).encoded()) }
  return lines.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Prints the choices, one a line.
func printList(_ rows: [(name: String, summary: String)]) {
  let width = rows.map(\.name.count).max() ?? 0
  for row in rows {
    print(row.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + row.summary)
  }
}

/// Starts a second thread, which sleeps.
///
/// In a process with a single thread, glibc skips its locking.
func keepCompany() {
  Thread.detachNewThread {
    while true { Thread.sleep(forTimeInterval: 3_600) }
  }
}
