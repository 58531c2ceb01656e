import Foundation
import Millpond

/// A page with the results of groups: one document, and nothing from elsewhere.
struct ReportPage {
  let machine: Machine
  let isQuick: Bool
  let began: Date
  var sections: [ReportSection] = []

  /// Whether the figures are compared with targets: those of a quick run, or of a busy machine, mean
  /// too little.
  var isJudged: Bool { !isQuick && machine.load ?? 0 < 1 }

  /// The page as a document in HTML.
  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Millpond: benchmarks</title>
    <link rel="icon" href="data:,">
    <style>\(ReportStyle.text)</style>
    </head>
    <body>
    <header>
    <h1>Millpond: benchmarks</h1>
    <p class="finding">\(finding)</p>
    <dl>\(facts)</dl>
    <p>\(Table.legend)</p>
    </header>
    <nav aria-label="Groups"><ul>
    \(sections.map(link).joined(separator: "\n"))
    </ul></nav>
    <main>
    \(sections.map(html).joined(separator: "\n"))
    </main>
    </body>
    </html>

    """
  }

  /// The result of the whole run in a sentence or two.
  private var finding: String {
    let wrong = sections.flatMap(\.wrong)
    let sums =
      wrong.isEmpty
      ? "Every sum is right."
      : "<b class=\"wrong\">WRONG: \(wrong.joined(separator: ", ").escapedForHTML).</b>"
    if isQuick { return "\(sums) A quick run: it checks the sums, and the figures mean little." }
    guard isJudged else { return "\(sums) The machine was busy: no target is judged." }
    let met = sections.reduce(0) { $0 + $1.count(.met) }
    let missed = sections.reduce(0) { $0 + $1.count(.missed) }
    return "\(sums) \(met) of \(met + missed) targets are met."
  }

  private var facts: String {
    ([("Version", MillpondVersion.current), ("Began", began.formatted(.iso8601))] + machine.facts)
      .map { "<div><dt>\($0.0)</dt><dd>\($0.1.escapedForHTML)</dd></div>" }.joined()
  }

  private func link(_ section: ReportSection) -> String {
    """
    <li><a href="#\(section.name)">\(section.title)</a>
    <small>\(section.outcome(isJudged: isJudged).escapedForHTML)</small></li>
    """
  }

  private func html(_ section: ReportSection) -> String {
    """
    <section id="\(section.name)">
    <h2>\(section.title)</h2>
    <p><code>millpond-bench \(section.name)</code></p>
    <div class="wide" tabindex="0"><table>
    <thead><tr><th scope="col">row</th><th scope="col">unit</th>
    <th scope="col" class="number">ours</th><th scope="col">verdict</th><th scope="col">target</th>
    <th scope="col">beside</th><th scope="col">1 × … 100 ×</th></tr></thead>
    <tbody>
    \(section.samples.map(line).joined(separator: "\n"))
    </tbody>
    </table></div>
    </section>
    """
  }

  private func line(_ sample: Sample) -> String {
    let cells = sample.cells.enumerated().map { column, cell in
      switch column {
      case 1: return "<td class=\"number\">\(cell)</td>"
      case 2:
        let isShown = isJudged || sample.verdict == .wrong
        return "<td class=\"\(sample.verdict)\">\(isShown ? cell : "")</td>"
      default: return "<td>\(cell.escapedForHTML)</td>"
      }
    }
    return """
      <tr><th scope="row">\(sample.name.escapedForHTML)<small>\(sample.summary.escapedForHTML)</small></th>\
      \(cells.joined())<td class="bar">\(bar(sample))</td></tr>
      """
  }

  /// Returns ours as a multiple of the first floor, as a bar on a log scale from 1 to 100.
  private func bar(_ sample: Sample) -> String {
    guard let value = sample.value, let floor = sample.floor(), floor > 0, value > 0 else {
      return ""
    }
    let share = min(max(log10(value / floor) / 2, 0.005), 1) * 100
    let width = String(format: "%.1f", share)
    return "<i style=\"width: \(width)%\" title=\"\(figure(value / floor)) ×\"></i>"
  }
}

extension String {
  /// The text with escapes, valid in an element and in an attribute of a page.
  var escapedForHTML: String {
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(self) { text, escape in
      text.replacing(escape.0, with: escape.1)
    }
  }
}
