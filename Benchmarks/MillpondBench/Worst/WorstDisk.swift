import Foundation
import Millpond
import MillpondSignals

/// Bulk operations of the disk cache, which waits for no more than 8 ms with 200,000 values.
func worstDiskRows() -> [Row] {
  [
    .disk("set", "n new keys on disk", filled: false) { disk, dataset in
      try disk.put(dataset)
    } check: {
      $1 == $0
    },
    .disk("remove", "the removal of n values, one by one") { disk, dataset in
      try disk.remove(dataset)
    } check: { count, _ in
      count == 0
    },
    .disk("remove-all", "removeAll of n values, until its outcome") { disk, _ in
      try awaited(disk.cache.removeAll())
    } check: { count, _ in
      count == 0
    },
    .disk("remove-where", "removeAll(where:) of n values, until its outcome") { disk, _ in
      try awaited(disk.cache.removeAll { _ in true })
    } check: { count, _ in
      count == 0
    },
    .disk("first", "the first new key after opening n values", .single) { disk, _ in
      disk.cache.set(Data("new".utf8), for: "new")
    } check: {
      $0 == $1 + 1
    },
    .disk("contents", "the contents of n values") { disk, dataset in
      let count = try awaited(disk.cache.contents.collect()).count
      if count != dataset.keys.count {
        throw FileTrouble(path: "contents", reason: "\(count) values")
      }
    } check: {
      $0 == $1
    },
  ]
}

extension Row {
  /// Returns a row about n values on disk, while others look a key up in the index.
  ///
  /// - Parameter check: Receives the number of values after the work, and that of the row.
  fileprivate static func disk(
    _ name: String, _ summary: String, _ cost: WorstCost = .total, filled: Bool = true,
    _ body: @escaping (MillpondDisk, DiskDataset) throws -> Void,
    check: @escaping (Int, Int) -> Bool
  ) -> Row {
    worst("disk-\(name)", summary, cost, greatest: 200_000, wait: 8) { count in
      let dataset = DiskDataset(size: 16, count: count)
      let folder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
      let filling = try MillpondDisk(folder: folder.path)
      if filled { try filling.put(dataset) }
      try filling.close()
      let disk = try MillpondDisk(folder: folder.path)
      return WorstCase(neighbour: { disk.cache.contains("none").subscribe() }) {
        try body(disk, dataset)
      } check: {
        defer { folder.clear() }
        let left = try disk.count()
        try disk.close()
        return check(left, count)
      }
    }
  }
}
