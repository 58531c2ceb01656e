/// Returns the rows about a cache on disk, beside `pwrite` of the same bytes to the end of one file
/// and `pread` from it, a file for each value, and Foundation's atomic writes.
///
/// All reads are served by the system's cache. Foundation waits for a disk, so it is a measure only
/// where files are not in memory alone.
func diskRows() -> [Row] {
  let small = [Target(times: 2), Target(times: 0.05, floor: FoundationFiles.name)]
  let large = [Target(times: 1.1, floor: FilePerValue.name)]
  return [
    .disk(.put, "100b", 100, 20_000, small),
    .disk(.put, "1k", 1_024, 20_000, small),
    .disk(.put, "16k", 16_384, 2_000, small),
    .disk(.put, "4m", 4 << 20, 16, large),
    .disk(.get, "100b", 100, 20_000, [Target(times: 4)]),
    .disk(.get, "1k", 1_024, 20_000, [Target(times: 4)]),
    .disk(.get, "16k", 16_384, 2_000),
    .disk(.get, "4m", 4 << 20, 16, large),
    .disk(.contains, "1k", 1_024, 20_000),
    .disk(.remove, "1k", 1_024, 20_000),
    openingRow(
      "disk-open-hint-200k", "opening a folder of 200,000 entries that was closed",
      [Target(atMost: 25)], isClosed: true),
    openingRow(
      "disk-open-scan-200k", "opening a folder of 200,000 entries that a crash left",
      [Target(atMost: 30)], isClosed: false),
  ]
}

extension Row {
  fileprivate static func disk(
    _ operation: DiskOperation, _ name: String, _ size: Int, _ count: Int, _ targets: [Target] = []
  ) -> Row {
    Row(
      "disk-\(operation)-\(name)",
      "\(operation) of many values of \(size) bytes; a write has its share of the final flush",
      unit: "µs", targets, repetitions: 7
    ) { run in
      let count = run.count(count, quick: max(4, count / 50))
      let dataset = DiskDataset(size: size, count: count)
      // Files are slow on a disk.
      let few = DiskDataset(size: size, count: min(count, run.count(200, quick: 8)))
      var works = [Work.disk(operation, MillpondDisk.self, dataset, run.folder)]
      if operation == .put || operation == .get {
        works.append(.disk(operation, SingleFile.self, dataset, run.folder))
      }
      works.append(.disk(operation, FilePerValue.self, few, run.folder))
      if operation == .put, !SystemReport.isMemory(run.folder.path) {
        works.append(.disk(operation, FoundationFiles.self, few, run.folder))
      }
      return (works, operations: count)
    }
  }
}
