/// A family on the page.
struct ReportSection {
  let family: ReportFamily
  let result: FamilyResult

  init(_ family: ReportFamily, _ result: FamilyResult) {
    self.family = family
    self.result = result
  }

  var isRight: Bool { result.isRight }

  /// The outcome in a few words.
  var outcome: String {
    if let failure = result.failure { return failure }
    let wrong = result.rows.filter { $0.cells.last?.tone == "wrong" }.compactMap(\.cells.first)
    if !wrong.isEmpty { return "WRONG: \(wrong.joined(separator: ", "))" }
    let verdicts = result.rows.compactMap(\.cells.last)
    let judged = verdicts.filter { !$0.tone.isEmpty }
    if judged.isEmpty { return "\(result.rows.count) rows" }
    let met = judged.filter { $0.tone == "met" }
    return "\(result.rows.count) rows, \(met.count) of \(judged.count) targets met"
  }

  /// The link to the section, for the list of all.
  var link: String {
    "<li><a href=\"#\(family.name)\">\(family.title)</a> <small>\(escaped(outcome))</small></li>"
  }

  /// The section in HTML.
  var html: String {
    """
    <section id="\(family.name)">
    <h2>\(family.title)</h2>
    <p><code>\(family.command)</code></p>
    \(result.failure.map { "<p class=\"warning\">\(escaped($0))</p>" } ?? "")
    \(result.legend.isEmpty ? "" : "<p>\(escaped(result.legend))</p>")
    \(result.summary.map { "<pre>\(lines(of: $0))</pre>" } ?? "")
    \(result.rows.isEmpty ? "" : table)
    \(result.picture.map { "<div class=\"wide\" tabindex=\"0\">\($0.element)</div>" } ?? "")
    </section>
    """
  }

  private var table: String {
    let head = result.titles.enumerated().map { column, title in
      "<th scope=\"col\"\(alignment(column))>\(escaped(title.isEmpty ? "verdict" : title))</th>"
    }
    return """
      <div class="wide" tabindex="0"><table>
      <thead><tr>\(head.joined())</tr></thead>
      <tbody>
      \(result.rows.map(line).joined(separator: "\n"))
      </tbody>
      </table></div>
      """
  }

  private func line(_ row: FamilyResult.Row) -> String {
    let cells = row.cells.enumerated().map { column, cell in
      if column > 0 { return "<td\(alignment(column))>\(marked(cell))</td>" }
      let summary = row.summary.isEmpty ? "" : "<small>\(escaped(row.summary))</small>"
      return "<th scope=\"row\">\(escaped(cell))\(summary)</th>"
    }
    return "<tr>\(cells.joined())</tr>"
  }

  private func marked(_ cell: String) -> String {
    cell.tone.isEmpty ? escaped(cell) : "<span class=\"\(cell.tone)\">\(escaped(cell))</span>"
  }

  private func alignment(_ column: Int) -> String {
    result.leftAligned.contains(column) ? "" : " class=\"number\""
  }

  private func escaped(_ text: String) -> String { Text(content: text).escaped }

  /// Returns a text whose lines stay lines.
  private func lines(of text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
      .joined(separator: "\n")
  }
}

extension String {
  /// The kind of a verdict, by which it is coloured; empty for any other text.
  fileprivate var tone: String {
    switch self {
    case "met", "by ns", "by ratio": "met"
    case "missed", "mallocs", "grows", "waits", "grows, waits": "bad"
    default: hasSuffix("WRONG") || hasSuffix("IMPOSSIBLE") ? "wrong" : ""
    }
  }
}
