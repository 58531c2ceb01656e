import Foundation

/// Returns a row about the opening of a folder, until its number of entries is known.
///
/// - Parameter isClosed: Whether the cache before was closed; otherwise the folder is as a crash
///   leaves it.
func openingRow(
  _ name: String, _ summary: String, _ targets: [Target], isClosed: Bool
) -> Row {
  Row(name, summary, unit: "ms", targets) { run, sample in
    let count = run.count(200_000, quick: 4_000)
    let (left, folder) = (try run.folder.fresh("left"), run.folder.path + "/opened")
    let filled = try MillpondDisk(folder: left)
    try filled.put(DiskDataset(size: 200, count: count))
    if isClosed { try filled.close() }
    let opened = Kept<MillpondDisk?>(nil)
    let opening = Work(
      expected: { _ in
        opened.value = nil
        return count
      },
      prepare: {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: left, toPath: folder)
      },
      run: { _ in
        opened.value = try MillpondDisk(folder: folder)
        return try opened.value?.count() ?? 0
      })
    try sample.measure([opening], 1, repetitions: run.count(7, quick: 2))
    if !isClosed { try filled.close() }
    for used in [left, folder] { try? FileManager.default.removeItem(atPath: used) }
  }
}
