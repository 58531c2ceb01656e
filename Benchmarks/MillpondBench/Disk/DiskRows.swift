import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// Returns the rows about a cache on disk, beside `pwrite` of the same bytes to the end of one file
/// and `pread` from it, a file for each value, and Foundation's atomic writes.
///
/// All reads are served by the system's cache. Foundation waits for a disk, so it is a measure only
/// where files are not in memory alone.
func diskRows() -> [Row] {
  let small = [("100b", 100, 20_000), ("1k", 1_024, 20_000), ("16k", 16_384, 2_000)]
  return small.map { name, size, count in
    .disk(
      .put, name, size, count,
      [Target(times: 2), Target(times: 0.05, floor: FoundationFiles.name)])
  } + [
    .disk(.put, "4m", 4 << 20, 16, [Target(times: 1.1, floor: FilePerValue.name)]),
    .disk(.get, "100b", 100, 20_000, [Target(times: 4)]),
    .disk(.get, "1k", 1_024, 20_000, [Target(times: 4)]),
    .disk(.get, "16k", 16_384, 2_000),
    .disk(.get, "4m", 4 << 20, 16, [Target(times: 1.1, floor: FilePerValue.name)]),
    .disk(.contains, "1k", 1_024, 20_000),
    .disk(.remove, "1k", 1_024, 20_000),
    Row(
      "disk-heap-1k", "memory per entry, while open", unit: "bytes", measure: weigh),
    openingRow(
      "disk-open-hint-200k", "opening a folder of 200,000 entries that was closed",
      [Target(atMost: 25)], isClosed: true),
    openingRow(
      "disk-open-scan-200k", "opening a folder of 200,000 entries that a crash left",
      [Target(atMost: 30)], isClosed: false),
    overwritingRow(),
  ]
}

/// The operation on each of many values.
enum DiskOperation: String {
  case put
  case get
  case contains
  case remove

  fileprivate var title: String {
    switch self {
    case .put: "a put, with its share of the final flush"
    case .get: "a get, many at once in random order"
    case .contains: "a test for a value, many at once in random order"
    case .remove: "a removal, with its share of the final flush"
    }
  }
}

extension Row {
  fileprivate static func disk(
    _ operation: DiskOperation, _ name: String, _ size: Int, _ count: Int, _ targets: [Target] = []
  ) -> Row {
    Row(
      "disk-\(operation)-\(name)", "\(operation.title), values of \(size) bytes", unit: "µs",
      targets
    ) { run, sample in
      let dataset = DiskDataset(size: size, count: run.count(count, quick: max(4, count / 50)))
      // They are slow on a disk.
      let few = dataset.firstFew(run.count(200, quick: 8))
      var works = [FilledDisk<MillpondDisk>(dataset, run.folder).work(operation)]
      if operation == .put || operation == .get {
        works.append(FilledDisk<SingleFile>(dataset, run.folder).work(operation))
      }
      works.append(FilledDisk<FilePerValue>(few, run.folder).work(operation))
      if operation == .put, !SystemReport.isMemory(run.folder.path) {
        works.append(FilledDisk<FoundationFiles>(few, run.folder).work(operation))
      }
      try sample.measure(works, repetitions: run.count(7, quick: 2), unit: .microseconds(1))
    }
  }
}

/// Weighs a cache in memory once everything is written.
private func weigh(_ run: Run, _ sample: inout Sample) throws {
  let dataset = DiskDataset(size: 1_024, count: run.count(20_000, quick: 400))
  let before = SystemReport.heapBytes
  let disk = try MillpondDisk(folder: run.folder.fresh("weighed"))
  try disk.put(dataset)
  let after = SystemReport.heapBytes
  sample.value = before.flatMap { before in
    after.map { Double($0 - before) / Double(dataset.keys.count) }
  }
  sample.isSumRight = disk.get(dataset) == dataset.sum
  try disk.close()
}
