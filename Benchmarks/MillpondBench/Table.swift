import Foundation

/// The measurements as a table for people: one line a row, aligned, in 120 columns.
struct Table: ResultTable {
  let titles = [
    "row", "ns", "≤", "floor", "ns", "ratio", "≤", "mallocs", "≤", "peer", "ns", "ratio", "",
  ]

  /// The explanation of the columns.
  static let legend = """
    ratio: ours ÷ the floor, in this run. peer: the fastest of ReactiveSwift, RxSwift, OpenCombine
    and AsyncAlgorithms, measured on another machine, with its ratio to the same floor there. Targets
    were set there too; a slower machine meets them by ratio, a faster one by ns.
    """

  let columns: Columns

  init(for rows: [Row]) {
    var widths = titles.map(\.count)
    widths[0] = max(widths[0], rows.map(\.name.count).max() ?? 0)
    widths[3] = max(widths[3], rows.map(\.baseline.name.count).max() ?? 0)
    for column in [1, 4] { widths[column] = 7 }
    for column in [2, 5, 6, 10, 11] { widths[column] = 5 }
    columns = Columns(widths: widths, leftAligned: [0, 3, 9, 12])
  }

  func cells(_ row: Measurement) -> [String] {
    [
      row.name, digits(row.nanoseconds, 1), digits(row.target, 0),
      row.baseline, digits(row.baselineNanoseconds, 1), digits(row.ratio, 2),
      digits(row.ratioTarget, 1), digits(row.mallocs, 2), digits(row.mallocTarget, 0),
      row.peer?.name ?? "", digits(row.peer?.nanoseconds, 0), digits(row.peerRatio, 1),
      row.verdict,
    ]
  }
}

/// Results as a table for people.
protocol ResultTable<Line> {
  associatedtype Line

  /// The explanation of the columns.
  static var legend: String { get }

  var titles: [String] { get }
  var columns: Columns { get }

  /// Returns the cells of a result, in the order of the titles.
  func cells(_ line: Line) -> [String]
}

extension ResultTable {
  var header: String { columns.line(titles) }

  /// Returns a result as a line, aligned with the header.
  func line(_ line: Line) -> String { columns.line(cells(line)) }
}

/// Aligned cells in one line.
struct Columns {
  var widths: [Int]
  let leftAligned: Set<Int>

  func line(_ cells: [String]) -> String {
    var text = cells.indices.map { column in
      let padding = String(repeating: " ", count: max(0, widths[column] - cells[column].count))
      return leftAligned.contains(column) ? cells[column] + padding : padding + cells[column]
    }.joined(separator: "  ")
    while text.last == " " { text.removeLast() }
    return text
  }
}

/// Formats the number with `places` digits after the point; empty for nil.
func digits(_ number: Double?, _ places: Int) -> String {
  number.map { String(format: "%.\(places)f", $0) } ?? ""
}

extension Measurement {
  /// The verdict on the row's targets in a word or two; empty without targets.
  var verdict: String {
    if !isSumRight { return "WRONG" }
    return areMallocsMet == false ? "mallocs" : verdictOnTime
  }

  private var verdictOnTime: String {
    switch (isMet, isRatioMet) {
    case (nil, nil): areMallocsMet == true ? "met" : ""
    case (true?, true?), (true?, nil), (nil, true?): "met"
    case (true?, false?): "by ns"
    case (false?, true?): "by ratio"
    case (false?, _), (nil, false?): "missed"
    }
  }
}

/// The measurements as one JSON document.
struct Document<Line: Encodable>: Encodable {
  let rows: [Line]

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
