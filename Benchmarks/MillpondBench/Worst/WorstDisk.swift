import Foundation
import Millpond
import MillpondSignals

/// Bulk operations of the disk cache, which waits for no more than 8 ms with 200,000 values.
func worstDiskRows() -> [WorstRow] {
  let greatest = 100_000
  return [
    WorstRow(
      name: "worst-disk-set", summary: "n new keys on disk", greatest: greatest,
      waitTarget: 8
    ) { count in
      let disk = try WorstFolder()
      let dataset = DiskDataset(size: 16, count: count)
      return WorstCase {
        try disk.cache.put(dataset)
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: count)
      }
    },
    WorstRow(
      name: "worst-disk-remove", summary: "the removal of n values, one by one", greatest: greatest,
      waitTarget: 8
    ) { count in
      let dataset = DiskDataset(size: 16, count: count)
      let disk = try WorstFolder(dataset)
      return WorstCase {
        for key in dataset.keys { disk.cache.remove(key) }
        try awaited(disk.cache.flush())
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: 0)
      }
    },
    WorstRow(
      name: "worst-disk-remove-all", summary: "the call of removeAll of n values",
      greatest: greatest, waitTarget: 8
    ) { count in
      let disk = try WorstFolder(DiskDataset(size: 16, count: count))
      return WorstCase {
        disk.outcome = disk.cache.removeAll()
      } neighbour: {
        _ = disk.get()
      } check: {
        if let outcome = disk.outcome { try awaited(outcome) }
        return try disk.end(holding: 0)
      }
    },
    WorstRow(
      name: "worst-disk-erase", summary: "removeAll of n values, until its outcome",
      greatest: greatest, waitTarget: 8
    ) { count in
      let disk = try WorstFolder(DiskDataset(size: 16, count: count))
      return WorstCase {
        try awaited(disk.cache.removeAll())
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: 0)
      }
    },
    WorstRow(
      name: "worst-disk-remove-where",
      summary: "removeAll(where:) of n values, until its outcome", greatest: greatest,
      waitTarget: 8
    ) { count in
      let disk = try WorstFolder(DiskDataset(size: 16, count: count))
      return WorstCase {
        try awaited(disk.cache.removeAll { _ in true })
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: 0)
      }
    },
    WorstRow(
      name: "worst-disk-first", summary: "the first new key after opening n values", unit: .single,
      greatest: greatest, waitTarget: 8
    ) { count in
      let disk = try WorstFolder(DiskDataset(size: 16, count: count))
      try disk.reopen()
      return WorstCase {
        disk.cache.set(Data("new".utf8), for: "new")
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: count + 1)
      }
    },
    WorstRow(
      name: "worst-disk-verify", summary: "verify of n values", greatest: greatest, waitTarget: 8
    ) { count in
      let disk = try WorstFolder(DiskDataset(size: 16, count: count))
      var report = DiskReport()
      return WorstCase {
        report = try awaited(disk.cache.verify())
      } neighbour: {
        _ = disk.get()
      } check: {
        try disk.end(holding: count) && report.goodValues == count
      }
    },
  ]
}

/// A disk cache in a folder of its own.
///
/// Sendable because the thread that measures changes it while no other uses it.
final class WorstFolder: @unchecked Sendable {
  private let workFolder: WorkFolder
  var cache: DiskCache
  var outcome: Signal<Void>?

  init(_ dataset: DiskDataset? = nil) throws {
    workFolder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
    cache = DiskCache(directory: URL(filePath: workFolder.path), byteLimit: .mebibytes(4_096))
    _ = try awaited(cache.count)
    if let dataset { try cache.put(dataset) }
  }

  func reopen() throws {
    try awaited(cache.close())
    cache = DiskCache(directory: URL(filePath: workFolder.path), byteLimit: .mebibytes(4_096))
    _ = try awaited(cache.count)
  }

  /// Looks a key up in the index, without reading a file.
  func get() -> Disposable {
    cache.contains("none").subscribe()
  }

  /// Removes the folder, and returns whether it held `count` values.
  func end(holding count: Int) throws -> Bool {
    let isRight = try awaited(cache.count) == count
    try awaited(cache.close())
    workFolder.clear()
    return isRight
  }
}
