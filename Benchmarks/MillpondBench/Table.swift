import Foundation

/// Samples as a table for people: a line each.
enum Table {
  static let titles = ["row", "unit", "ours", "", "target", "beside"]

  /// The explanation of the columns.
  static let legend = """
    ours: Millpond's figure. beside: the floor, which is the least possible work or what one would
    use without Millpond, measured by turns in this run, with ours as its multiple. As OpenCombine,
    for instance: what the fastest other library comes to here, by its multiple of the same floor on
    another machine. Compare the multiples: times differ from machine to machine, and from hour to
    hour.
    """

  /// Returns cells as a line, with the figure at the right of its column.
  static func line(_ cells: [String]) -> String {
    let aligned = zip(cells, [30, 6, 8, 6, 28, 0]).enumerated().map { column, cell in
      column == 2
        ? String(repeating: " ", count: max(0, cell.1 - cell.0.count)) + cell.0
        : cell.0.padded(to: cell.1)
    }
    return aligned.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
  }
}

extension Sample {
  /// The cells of the table.
  var cells: [String] {
    let others = floors.map { floor in
      let multiple = value.flatMap { value in
        floor.value.flatMap { $0 > 0 ? "(\(figure(value / $0)) ×)" : nil }
      }
      return [floor.name, figure(floor.value), multiple].compactMap(\.self).joined(separator: " ")
    }
    return [
      name, unit, figure(value), verdict.rawValue,
      targets.map { $0.text(beside: floors.first) }.joined(separator: ", "),
      note ?? others.joined(separator: ", "),
    ]
  }
}

/// Formats a number with three significant digits, or all before the point.
func figure(_ number: Double?) -> String {
  number.map { String(format: "%.\(abs($0) < 10 ? 2 : abs($0) < 100 ? 1 : 0)f", $0) } ?? "–"
}

/// Formats a number with no more digits than it needs.
func short(_ number: Double) -> String {
  String(format: "%.12g", (number * 100).rounded() / 100)
}

/// The samples as one JSON document.
func json(_ samples: [Sample]) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
  return String(decoding: try encoder.encode(["rows": samples]), as: UTF8.self)
}
