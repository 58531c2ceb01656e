import Foundation

/// Replays the traces that the options name, and returns the exit code.
func hitRatio(_ options: HitRatioOptions) throws -> Int32 {
  if options.wantsHelp {
    print(HitRatioOptions.help)
    return 0
  }
  let sources = try options.sources()
  let cells = try replay(sources, options)
  if options.isJSON {
    print(try HitRatioDocument(cells: cells).encoded())
  } else {
    print("", HitRatioSummary(of: cells), separator: "\n")
  }
  return cells.allSatisfy(\.isPossible) ? 0 : 1
}

private func replay(
  _ sources: [TraceSource], _ options: HitRatioOptions
) throws(TraceError) -> [HitRatioCell] {
  let table = HitRatioTable(for: sources)
  let progress = Progress()
  if !options.isJSON { print(HitRatioTable.legend, table.header, separator: "\n\n") }
  var all: [HitRatioCell] = []
  for source in sources {
    let cells = try replay(source, options, progress)
    if !options.isJSON { for cell in cells { print(table.line(cell)) } }
    all += cells
  }
  return all
}

private func replay(
  _ source: TraceSource, _ options: HitRatioOptions, _ progress: Progress
) throws(TraceError) -> [HitRatioCell] {
  defer { progress.clear() }
  progress.show("reading \(source.name)")
  let trace = try source.trace()
  progress.show("replaying \(source.name): \(trace.keys.count) accesses, \(trace.keyCount) keys")
  return HitRatioComparison(trace).cells(at: options.percents)
}

/// The cells and their summary as one JSON document.
struct HitRatioDocument: Encodable {
  let cells: [HitRatioCell]
  let summary: HitRatioSummary

  init(cells: [HitRatioCell]) {
    self.cells = cells
    summary = HitRatioSummary(of: cells)
  }

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
