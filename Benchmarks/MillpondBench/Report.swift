import Foundation

/// The measurements as a table for people: one line a row, aligned.
struct Table {
  private static let titles = [
    "row", "ns", "target", "", "floor", "ns", "ratio", "mallocs", "target", "", "what",
  ]
  private static let leftAligned: Set = [0, 3, 4, 9, 10]

  private var widths = titles.map(\.count)
  private(set) var lines: [String] = []

  init(for rows: [Row]) {
    widths[0] = rows.map(\.name.count).max() ?? 0
    widths[4] = rows.map(\.baseline.name.count).max() ?? 0
    for column in [1, 2, 5] { widths[column] = 7 }
    for column in [3, 9] { widths[column] = 6 }
  }

  var header: String {
    line(Self.titles)
  }

  func line(_ row: Measurement) -> String {
    line([
      row.name, digits(row.nanoseconds, 1), row.target.map { digits($0, 0) } ?? "",
      row.isSumRight ? verdict(row.isMet) : "WRONG", row.baseline,
      digits(row.baselineNanoseconds, 1), digits(row.ratio, 2),
      row.mallocs.map { digits($0, 2) } ?? "", row.mallocTarget.map { digits($0, 0) } ?? "",
      verdict(row.areMallocsMet), row.summary,
    ])
  }

  private func line(_ cells: [String]) -> String {
    cells.indices.map { column in
      let padding = String(repeating: " ", count: max(0, widths[column] - cells[column].count))
      return Self.leftAligned.contains(column) ? cells[column] + padding : padding + cells[column]
    }.joined(separator: "  ")
  }

  private func verdict(_ isMet: Bool?) -> String {
    isMet.map { $0 ? "met" : "missed" } ?? ""
  }

  private func digits(_ number: Double, _ places: Int) -> String {
    String(format: "%.\(places)f", number)
  }
}

/// The measurements as one JSON document.
struct Document: Encodable {
  let rows: [Measurement]

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
