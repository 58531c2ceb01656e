import Foundation
import Millpond

/// A page with the results of groups: one document, and nothing from elsewhere.
struct ReportPage {
  let isQuick: Bool

  /// The number of processes that wanted a processor in the minute before; nil if the system does
  /// not tell it.
  var load = SystemReport.load

  /// The time of the beginning.
  var began = Date()

  /// The groups that were measured.
  var groups: [Group] = []

  /// Whether the figures are compared with targets: those of a quick run, or of a busy machine, mean
  /// too little.
  var isJudged: Bool { !isQuick && load ?? 0 < 1 }

  var samples: [Sample] { groups.flatMap(\.samples) }

  /// Replaces the contents of a file.
  func write(to file: String) throws {
    // In place: where the folder can't be written, the file may be.
    try Data(html.utf8).write(to: URL(filePath: file))
  }

  /// The page as a document in HTML.
  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Millpond: benchmarks</title>
    <link rel="icon" href="data:,">
    <style>\(Self.style)</style>
    </head>
    <body>
    <h1>Millpond: benchmarks</h1>
    <p class="finding">\(finding)</p>
    <p>\(facts.escapedForHTML)</p>
    <p>\(Table.legend)</p>
    \(groups.map(html).joined(separator: "\n"))
    </body>
    </html>

    """
  }

  /// The result of the whole run in a sentence or two.
  private var finding: String {
    let wrong = samples.filter { !$0.isSumRight }.map(\.name.escapedForHTML)
    let sums =
      wrong.isEmpty
      ? "Every sum is right."
      : "<b class=\"wrong\">WRONG: \(wrong.joined(separator: ", ")).</b>"
    if isQuick { return "\(sums) A quick run: it checks the sums, and the figures mean little." }
    return isJudged
      ? "\(sums) \(samples.targetsMet)." : "\(sums) The machine was busy: no target is judged."
  }

  /// The version, the time and the machine.
  private var facts: String {
    let process = ProcessInfo.processInfo
    return """
      Millpond \(MillpondVersion.current), \(began.formatted(.iso8601)), \
      \(process.operatingSystemVersionString), \(process.activeProcessorCount) processors with a \
      load of \(figure(load)) at the start, \(process.physicalMemory >> 20) MiB of memory
      """
  }

  private func html(_ group: Group) -> String {
    """
    <section id="\(group.name)">
    <h2>\(group.name)\(isJudged ? ": \(group.samples.targetsMet)" : "")</h2>
    <p>\(group.summary)</p>
    <div class="wide" tabindex="0"><table>
    <thead><tr>\(Table.titles.map { "<th scope=\"col\">\($0)</th>" }.joined())
    <th scope="col">1 × … 100 ×</th></tr></thead>
    <tbody>
    \(group.samples.map(line).joined(separator: "\n"))
    </tbody>
    </table></div>
    </section>
    """
  }

  private func line(_ sample: Sample) -> String {
    let cells = sample.cells.map(\.escapedForHTML)
    return """
      <tr><th scope="row">\(cells[0])<small>\(sample.summary.escapedForHTML)</small></th>\
      <td>\(cells[1])</td><td class="number">\(cells[2])</td>\
      <td class="\(sample.verdict)">\(isJudged || !sample.isSumRight ? cells[3] : "")</td>\
      <td>\(cells[4])</td><td>\(cells[5])</td><td>\(bar(sample))</td></tr>
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

extension [Sample] {
  /// The number of met targets, in words.
  fileprivate var targetsMet: String {
    let met = count { $0.verdict == .met }
    return "\(met) of \(met + count { $0.verdict == .missed }) targets are met"
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
