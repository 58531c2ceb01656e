import Foundation

/// Runs the benchmarks that the arguments after `entities` name, and returns the exit code.
func entityBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try EntityOptions(arguments)
  let rows = try EntityRow.all.named(options.names)
  if options.wantsHelp {
    print(EntityOptions.help)
  } else if options.wantsList {
    printList(rows.map { ($0.name, $0.summary) })
  } else {
    return try run(rows, options)
  }
  return 0
}

private func run(_ rows: [EntityRow], _ options: EntityOptions) throws -> Int32 {
  keepCompany()
  let table = EntityReport(for: rows)
  if !options.isJSON { print(EntityReport.legend, table.header, separator: "\n\n") }
  var measurements: [EntityMeasurement] = []
  for row in rows {
    let measurement = EntityMeasurement(row, row.measure(options.effort))
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}
