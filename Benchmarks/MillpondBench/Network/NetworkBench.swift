import Foundation

/// Runs the benchmarks that the arguments after `network` name, and returns the exit code.
func networkBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try NetworkOptions(arguments)
  let rows = try options.choose(from: NetworkRow.all)
  if options.wantsHelp {
    print(NetworkOptions.help)
  } else if options.wantsList {
    printList(rows.map { ($0.name, $0.summary) })
  } else {
    return try run(rows, options, legend: NetworkTable.legend)
  }
  return 0
}

/// Measures the rows, prints them as a table or as JSON, and returns the exit code.
func run(_ rows: [NetworkRow], _ options: NetworkOptions, legend: String) throws -> Int32 {
  let table = NetworkTable(for: rows)
  if !options.isJSON { print(legend, table.header, separator: "\n\n") }
  var measurements: [NetworkMeasurement] = []
  for row in rows {
    let measurement = NetworkMeasurement(row, try row.measure(options.effort))
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}
