import Foundation

/// Runs the benchmarks that the arguments after `memory` name, and returns the exit code.
func memoryBench(_ arguments: some Sequence<String>) throws -> Int32 {
  let options = try MemoryOptions(arguments)
  let rows = try options.choose(from: MemoryRow.all)
  if options.wantsHelp {
    print(MemoryOptions.help)
  } else if options.wantsList {
    printList(rows.map { ($0.name, $0.summary) })
  } else {
    return try run(rows, options)
  }
  return 0
}

private func run(_ rows: [MemoryRow], _ options: MemoryOptions) throws -> Int32 {
  keepCompany()
  let table = MemoryTable(for: rows)
  if !options.isJSON { print(MemoryTable.legend, table.header, separator: "\n\n") }
  var measurements: [MemoryMeasurement] = []
  measure(rows, options.effort) { measurement in
    measurements.append(measurement)
    if !options.isJSON { print(table.line(measurement)) }
  }
  if options.isJSON { print(try Document(rows: measurements).encoded()) }
  return measurements.allSatisfy(\.isSumRight) ? 0 : 1
}

/// Measures the rows, and reports each as soon as it is known.
///
/// Keys are made once for those that share them, and given up before the next are made.
func measure(
  _ rows: [MemoryRow], _ effort: MemoryEffort, _ report: (MemoryMeasurement) -> Void
) {
  for kind in KeyKind.allCases {
    let ofKind = rows.filter { $0.kind == kind }
    for size in Set(ofKind.map(\.size)).sorted() {
      let ofSize = ofKind.filter { $0.size == size }
      switch kind {
      case .int:
        measure(ofSize, MemoryDataset<Int>(size: size, strangers: effort.strangers), effort, report)
      case .str:
        measure(
          ofSize, MemoryDataset<String>(size: size, strangers: effort.strangers), effort, report)
      case .url:
        measure(ofSize, MemoryDataset<URL>(size: size, strangers: effort.strangers), effort, report)
      }
    }
  }
}
