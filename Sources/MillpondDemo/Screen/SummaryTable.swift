/// A table of the answers of each layer: how many rows it answered, how long they waited, and how
/// many bytes they show.
///
/// Rows that share a request count each.
struct SummaryTable: Sendable {
  private struct Answers {
    var times: [Duration] = []
    var bytes = 0
  }

  private var layers: [String]
  private var answers: [String: Answers] = [:]

  /// - Parameter layers: The layers to show in any case, in this order; others follow in order of
  ///   arrival.
  init(layers: [String]) { self.layers = layers }

  /// Adds one answer of a layer.
  mutating func record(layer: String, time: Duration, bytes: Int) {
    if !layers.contains(layer) { layers.append(layer) }
    answers[layer, default: Answers()].times.append(time)
    answers[layer, default: Answers()].bytes += bytes
  }

  /// Returns a heading, a rule, and a line for each layer, in columns, which a narrow screen has
  /// closer together.
  func lines(_ screen: Screen) -> [String] {
    let style = screen.style
    let heading = ["layer", "rows", "median", "longest", "shown"]
    let table = [heading] + layers.map { cells(of: $0, style.glyphs) }
    let widths = heading.indices.map { column in
      table.reduce(0) { max($0, $1[column].columns) }
    }
    let room = screen.size().columns - 1 - widths.reduce(0, +)
    let gap = String(repeating: " ", count: max(1, min(3, room / (heading.count - 1))))
    var lines = table.map { cells in
      let first = cells[0].fitted(to: widths[0])
      let others = zip(cells, widths).dropFirst().map { $0.trailing(in: $1) }
      return ([first] + others).joined(separator: gap)
    }
    let rule = String(repeating: style.glyphs.rule, count: lines[0].columns)
    lines[0] = style.painted(lines[0], .title)
    lines.insert(style.painted(rule, .quiet), at: 1)
    return lines
  }

  private func cells(of layer: String, _ glyphs: Glyphs) -> [String] {
    let answers = answers[layer] ?? Answers()
    let times = answers.times.sorted()
    guard let longest = times.last else { return [layer.harmless, "0", "", "", ""] }
    // For an even count, the lower of the two middle times, which is a measured one.
    let median = times[(times.count - 1) / 2]
    return [
      layer.harmless, "\(times.count)", Amounts.time(median, glyphs),
      Amounts.time(longest, glyphs), Amounts.bytes(answers.bytes),
    ]
  }
}
