import Foundation

/// The rows about caches in memory.
struct MemoryFamily: RowFamily {
  static let name = "memory"
  static let title = "Memory"

  static let help = """
    Usage: millpond-bench memory [NAME...] [--quick] [--json] [--list]

    Compares MemoryCache with a dictionary under our own lock and with NSCache, in turns in this
    process: hits, misses, inserts into a full cache, and a mixture of 95 % hits and 5 % writes by
    Zipf's law (exponent 0.99); with Int, String and URL keys, from a thousand entries on, by one
    thread and by two on the same cache. Prints nanoseconds per operation of all threads together:
    the best of several repetitions, or the median with two threads. Also prints the bytes per
    entry, without keys and objects, which are made before. A NAME such as memory-hit-str-100k-2
    selects the rows whose names begin with it; without one, all rows run, which takes half an hour.

      --quick      few repetitions, no rows of a million: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  static var allRows: [MemoryRow] { MemoryRow.all }

  let effort: MemoryEffort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func feasible(_ rows: [MemoryRow]) -> [MemoryRow] {
    rows.filter { $0.size <= effort.sizeLimit }
  }

  func table(for rows: [MemoryRow]) -> MemoryTable { MemoryTable(for: rows) }

  func measure(_ rows: [MemoryRow], _ report: (MemoryMeasurement) -> Void) {
    MillpondBench.measure(rows, effort, report)
  }

}

extension MemoryRow: NamedRow {}
extension MemoryMeasurement: RowLine {
  var multiple: Double? { dictionaryRatio ?? nsCacheRatio }
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
