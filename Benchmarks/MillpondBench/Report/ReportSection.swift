import Foundation

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
    let rows = "\(result.rows.count) rows"
    return judgedCount == 0 ? rows : "\(rows), \(metCount) of \(judgedCount) targets met"
  }

  /// The number of rows with targets, and of those that met theirs.
  var judgedCount: Int { tones.filter { !$0.isEmpty }.count }
  var metCount: Int { tones.filter { $0 == "met" }.count }

  private var tones: [String] { result.rows.compactMap(\.cells.last?.tone) }

  /// The link to the section, for the list of all.
  func link(areJudged: Bool) -> String {
    let text = areJudged || !isRight ? outcome : "\(result.rows.count) rows"
    return
      "<li><a href=\"#\(family.name)\">\(family.title)</a> <small>\(escaped(text))</small></li>"
  }

  /// The section in HTML.
  func html(areJudged: Bool) -> String {
    """
    <section id="\(family.name)">
    <h2>\(family.title)</h2>
    <p><code>\(family.command)</code></p>
    \(result.failure.map { "<p class=\"warning\">\(escaped($0))</p>" } ?? "")
    \(result.legend.isEmpty ? "" : "<p>\(escaped(result.legend))</p>")
    \(result.summary.map { "<pre>\(lines(of: $0))</pre>" } ?? "")
    \(result.rows.isEmpty ? "" : table(areJudged))
    </section>
    """
  }

  private func table(_ areJudged: Bool) -> String {
    let head = result.titles.enumerated().map { column, title in
      "<th scope=\"col\"\(alignment(column))>\(escaped(title.isEmpty ? "verdict" : title))</th>"
    }
    return """
      <div class="wide" tabindex="0"><table>
      <thead><tr>\(head.joined())\(hasBars ? "<th scope=\"col\">1 × … 100 ×</th>" : "")</tr></thead>
      <tbody>
      \(result.rows.map { line($0, areJudged) }.joined(separator: "\n"))
      </tbody>
      </table></div>
      """
  }

  private var hasBars: Bool { result.rows.contains { $0.multiple != nil } }

  private func line(_ row: FamilyResult.Row, _ areJudged: Bool) -> String {
    let cells = row.cells.enumerated().map { column, cell in
      if column > 0 {
        let isHidden = !areJudged && !["", "wrong"].contains(cell.tone)
        return "<td\(alignment(column))>\(isHidden ? "" : marked(cell))</td>"
      }
      let summary = row.summary.isEmpty ? "" : "<small>\(escaped(row.summary))</small>"
      return "<th scope=\"row\">\(escaped(cell))\(summary)</th>"
    }
    return "<tr>\(cells.joined())\(hasBars ? bar(row.multiple) : "")</tr>"
  }

  /// Returns the cell of a multiple as a bar, on a log scale from 1 to 100.
  private func bar(_ multiple: Double?) -> String {
    guard let multiple, multiple > 0 else { return "<td></td>" }
    let share = min(max(log10(multiple) / 2, 0.005), 1) * 100
    let title = "\(digits(multiple, 2)) ×"
    return "<td class=\"bar\"><i style=\"width: \(digits(share, 1))%\" title=\"\(title)\"></i></td>"
  }

  private func marked(_ cell: String) -> String {
    cell.tone.isEmpty ? escaped(cell) : "<span class=\"\(cell.tone)\">\(escaped(cell))</span>"
  }

  private func alignment(_ column: Int) -> String {
    result.leftAligned.contains(column) ? "" : " class=\"number\""
  }

  private func escaped(_ text: String) -> String { text.escapedForHTML }

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

extension String {
  /// The text with escapes, valid in an element and in an attribute of a page.
  var escapedForHTML: String {
    reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
