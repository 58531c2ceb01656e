import Foundation

/// Returns all rows, in the order of the table; each file has a group of them.
func allRows() -> [Row] {
  floorRows() + chainRows() + makingRows() + subjectRows() + replayRows() + combiningRows()
    + threadRows() + cacheRows() + responseRows() + compositionRows() + multiplexerRows()
    + taskRows()
}

/// Runs the benchmarks that the arguments name, and returns the exit code.
///
/// `main.swift` only calls it, because nothing is specialised there.
func bench(_ arguments: some Collection<String>) -> Int32 {
  do {
    if arguments.first == "hit-ratio" {
      return try hitRatio(HitRatioOptions(arguments.dropFirst()))
    }
    if arguments.first == "memory" { return try memoryBench(arguments.dropFirst()) }
    if arguments.first == "disk" { return try diskBench(arguments.dropFirst()) }
    if arguments.first == "network" { return try networkBench(arguments.dropFirst()) }
    if arguments.first == "entities" { return try entityBench(arguments.dropFirst()) }
    if arguments.first == "redis" { return try redisBench(arguments.dropFirst()) }
    if arguments.first == "worst" { return try worstBench(arguments.dropFirst()) }
    if arguments.first == "report" { return try reportBench(arguments.dropFirst()) }
    let options = try Options(arguments)
    let rows = try options.choose(from: allRows())
    if options.wantsHelp {
      print(Options.help)
    } else if options.wantsList {
      printList(rows.map { ($0.name, $0.summary) })
    } else {
      return try run(rows, options)
    }
    return 0
  } catch {
    FileHandle.standardError.write(Data("millpond-bench: \(error)\n".utf8))
    return 2
  }
}

private func run(_ rows: [Row], _ options: Options) throws -> Int32 {
  let picture = try options.picture.map { try OutputFile($0) }
  keepCompany()
  let table = Table(for: rows)
  if !options.isJSON { print(Table.legend, table.header, separator: "\n\n") }
  var measurements: [Measurement] = []
  for row in rows {
    let measurement = measure(row, options.effort)
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  try picture?.write(BarChart(of: measurements).drawn().document)
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Prints the choices, one a line.
func printList(_ rows: [(name: String, summary: String)]) {
  let width = rows.map(\.name.count).max() ?? 0
  for row in rows {
    print(row.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + row.summary)
  }
}

/// Starts a second thread, which sleeps.
///
/// In a process with a single thread, glibc skips its locking.
func keepCompany() {
  Thread.detachNewThread {
    while true { Thread.sleep(forTimeInterval: 3_600) }
  }
}
