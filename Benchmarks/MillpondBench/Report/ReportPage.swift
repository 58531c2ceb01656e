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
    \(facts)
    \(warning)
    <p>Compare the ratios: times differ from machine to machine, and from hour to hour.</p>
    </header>
    <nav aria-label="Families"><ul>
    \(sections.map(\.link).joined(separator: "\n"))
    </ul></nav>
    <main>
    \(sections.map(\.html).joined(separator: "\n"))
    </main>
    </body>
    </html>

    """
  }

  private var facts: String {
    let all =
      [("Version", MillpondVersion.current), ("Began", began.formatted(.iso8601))] + machine.facts
    let lines = all.map { "<div><dt>\($0.0)</dt><dd>\(Text(content: $0.1).escaped)</dd></div>" }
    return "<dl>\(lines.joined())</dl>"
  }

  private var warning: String {
    isQuick
      ? "<p class=\"warning\">A quick run: it checks the sums, and the figures mean little.</p>"
      : ""
  }
}
