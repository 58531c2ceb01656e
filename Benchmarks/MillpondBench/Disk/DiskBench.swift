import Foundation

/// Runs the benchmarks that the arguments after `disk` name, and returns the exit code.
func diskBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try DiskOptions(arguments)
  let rows = try options.choose(from: DiskRow.all)
  if options.wantsHelp {
    print(DiskOptions.help)
  } else if options.wantsList {
    printList(rows.map { ($0.name, $0.summary) })
  } else {
    return try run(rows, options)
  }
  return 0
}

private func run(_ rows: [DiskRow], _ options: DiskOptions) throws -> Int32 {
  let picture = try options.picture.map { try OutputFile($0) }
  let workFolder = try WorkFolder(in: options.folder ?? FileManager.default.temporaryDirectory.path)
  defer { workFolder.clear() }
  keepCompany()
  let table = DiskTable(for: rows)
  if !options.isJSON { print(DiskTable.legend, table.header, separator: "\n\n") }
  var measurements: [DiskMeasurement] = []
  try measure(rows, options.effort, at: workFolder) { measurement in
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  try picture?.write(BarChart(of: measurements).drawn().document)
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Measures the rows, and reports each as soon as it is known.
///
/// Values are made once for the rows of their size, and given up before the next are made.
func measure(
  _ rows: [DiskRow], _ effort: DiskEffort, at workFolder: WorkFolder,
  _ report: (DiskMeasurement) -> Void
) throws {
  for size in ValueSize.allCases {
    let ofSize = rows.filter { $0.subject.size == size }
    if ofSize.isEmpty { continue }
    try measure(
      ofSize, DiskDataset(size: size.rawValue, count: effort.count(size.count)), effort,
      at: workFolder, report)
  }
  for row in rows {
    if case .opening(let opening) = row.subject {
      report(try measure(row, opening, effort, at: workFolder))
    }
  }
  try measureOverwriting(rows, effort, at: workFolder, report)
}
