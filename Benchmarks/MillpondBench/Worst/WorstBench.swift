import Foundation

/// Runs the benchmarks that the arguments after `worst` name, and returns the exit code.
func worstBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try WorstOptions(arguments)
  let rows = try WorstRow.all.named(options.names)
  if options.wantsHelp {
    print(WorstOptions.help)
  } else if options.wantsList {
    printList(rows.map { ($0.name, $0.summary) })
  } else {
    return try run(rows, options)
  }
  return 0
}

private func run(_ rows: [WorstRow], _ options: WorstOptions) throws -> Int32 {
  let table = WorstTable(for: rows, options.effort)
  if !options.isJSON { print(WorstTable.legend, table.header, separator: "\n\n") }
  var measurements: [WorstMeasurement] = []
  for row in rows {
    let measurement = try row.measure(options.effort)
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
    // At once, also into a file: some rows take a while.
    fflush(nil)
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}
