/// A table of the answers of each layer: how many rows it answered, how long they waited, and how
/// many bytes they show.
///
/// Rows that share a request count each.
struct SummaryTable: Sendable {
  private let layers: [String]
  private var answers: [String: [(time: Duration, bytes: Int)]] = [:]

  /// - Parameter layers: The layers to show, in this order.
  init(layers: [String]) { self.layers = layers }

  /// Adds one answer of a layer.
  mutating func record(layer: String, time: Duration, bytes: Int) {
    answers[layer, default: []].append((time, bytes))
  }

  /// Returns a heading, a rule, and a line for each layer, in columns, which a narrow screen has
  /// closer together.
  func lines(_ screen: Screen) -> [String] {
    let table =
      [["layer", "rows", "median", "longest", "shown"]] + layers.map { cells(of: $0, screen) }
    let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    let gap = (screen.size.columns - 1 - widths.reduce(0, +)) / (widths.count - 1)
    let separator = String(repeating: " ", count: max(1, min(3, gap)))
    var lines = table.map { cells in
      ([cells[0].leading(in: widths[0])]
        + zip(cells, widths).dropFirst().map { $0.trailing(in: $1) })
        .joined(separator: separator)
    }
    let rule = String(repeating: screen.hasUnicode ? "─" : "-", count: lines[0].count)
    lines[0] = screen.painted(lines[0], .title)
    lines.insert(screen.painted(rule, .quiet), at: 1)
    return lines
  }

  private func cells(of layer: String, _ screen: Screen) -> [String] {
    let times = (answers[layer] ?? []).map(\.time).sorted()
    guard let longest = times.last else { return [layer, "0", "", "", ""] }
    // For an even count, the lower of the two middle times, which is a measured one.
    let median = times[(times.count - 1) / 2]
    let bytes = (answers[layer] ?? []).reduce(0) { $0 + $1.bytes }
    return [
      layer, "\(times.count)", Amounts.time(median, screen), Amounts.time(longest, screen),
      Amounts.bytes(bytes),
    ]
  }
}
