import Foundation
import Millpond

/// A page with the results of families: one document, and nothing from elsewhere.
struct ReportPage {
  let machine: Machine
  let isQuick: Bool
  let began: Date
  var sections: [ReportSection] = []

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
    \(facts)
    <p>Compare the ratios: times differ from machine to machine, and from hour to hour.</p>
    </header>
    <nav aria-label="Families"><ul>
    \(sections.map { $0.link(areJudged: areJudged) }.joined(separator: "\n"))
    </ul></nav>
    <main>
    \(sections.map { $0.html(areJudged: areJudged) }.joined(separator: "\n"))
    </main>
    </body>
    </html>

    """
  }

  private var facts: String {
    let all =
      [("Version", MillpondVersion.current), ("Began", began.formatted(.iso8601))] + machine.facts
    let lines = all.map { "<div><dt>\($0.0)</dt><dd>\($0.1.escapedForHTML)</dd></div>" }
    return "<dl>\(lines.joined())</dl>"
  }

  /// Whether the figures are compared with targets: those of a quick run, or of a busy machine, mean
  /// too little.
  private var areJudged: Bool { !isQuick && machine.load ?? 0 < 1 }

  /// The result of the whole run in a sentence or two.
  private var finding: String {
    let wrong = sections.filter { !$0.isRight }.map(\.family.title)
    let sums =
      wrong.isEmpty
      ? "Every sum is right." : "<b class=\"wrong\">WRONG: \(wrong.joined(separator: ", ")).</b>"
    if isQuick { return "\(sums) A quick run: it checks the sums, and the figures mean little." }
    guard areJudged else { return "\(sums) The machine was busy: no target is judged." }
    let judged = sections.reduce(0) { $0 + $1.judgedCount }
    return "\(sums) \(sections.reduce(0) { $0 + $1.metCount }) of \(judged) targets are met."
  }
}
