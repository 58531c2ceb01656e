import Foundation

/// Measures groups, writes their page, and returns the exit code.
func report(_ groups: [Group], _ run: Run, to file: OutputFile) throws -> Int32 {
  var page = ReportPage(machine: .current(), isQuick: run.isQuick, began: Date())
  for group in groups {
    let start = ContinuousClock.now
    var section = ReportSection(name: group.name, title: group.title)
    for row in group.rows { row.samples(run) { section.samples.append($0) } }
    page.sections.append(section)
    // After each group, so that an hour's work is not lost with the last one.
    try file.write(page.html)
    let seconds = Int(start.duration(to: .now) / .seconds(1))
    print("\(group.name): \(section.outcome(isJudged: page.isJudged)) (\(seconds) s)")
    fflush(nil)
  }
  return page.sections.allSatisfy(\.wrong.isEmpty) ? 0 : 1
}

/// The results of a group.
struct ReportSection {
  let name: String
  let title: String
  var samples: [Sample] = []

  /// The names of the samples that are wrong.
  var wrong: [String] { samples.filter { !$0.isSumRight }.map(\.name) }

  func count(_ verdict: Sample.Verdict) -> Int { samples.count { $0.verdict == verdict } }

  /// Returns the outcome in a few words.
  func outcome(isJudged: Bool) -> String {
    if !wrong.isEmpty { return "WRONG: \(wrong.joined(separator: ", "))" }
    let judged = count(.met) + count(.missed)
    let rows = "\(samples.count) figures"
    return isJudged && judged > 0 ? "\(rows), \(count(.met)) of \(judged) targets met" : rows
  }
}
