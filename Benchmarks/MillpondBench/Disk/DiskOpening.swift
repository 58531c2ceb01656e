import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// Returns a row about the opening of a folder, until its number of entries is known.
///
/// - Parameter isClosed: Whether the cache before was closed; otherwise the folder is as a crash
///   leaves it.
func openingRow(
  _ name: String, _ summary: String, _ targets: [Target], isClosed: Bool
) -> Row {
  Row(name, summary, unit: "ms", targets) { run, sample in
    let count = run.count(200_000, quick: 4_000)
    let folder = try run.folder.fresh("opened")
    let left = folder + "-left"
    let disk = try MillpondDisk(folder: folder)
    try disk.put(DiskDataset(size: 200, count: count))
    if !isClosed { try FileManager.default.copyItem(atPath: folder, toPath: left) }
    try disk.close()

    let cache = Locked<DiskCache?>(nil)
    let opening = Work(
      expected: { _ in
        if let old = cache.withLock({ $0 }) { try awaited(old.close()) }
        return count
      },
      prepare: {
        if isClosed { return }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: left, toPath: folder)
      },
      run: { _ in
        let new = DiskCache(directory: URL(filePath: folder), byteLimit: MillpondDisk.byteLimit)
        cache.withLock { $0 = new }
        return try awaited(new.count)
      })
    try sample.measure(
      [(opening, 1)], repetitions: run.count(7, quick: 2), unit: .milliseconds(1))
    try? FileManager.default.removeItem(atPath: left)
  }
}
