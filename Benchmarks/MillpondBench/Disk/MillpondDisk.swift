import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// The disk cache of this project.
final class MillpondDisk: DiskContender {
  /// More than any row needs, so that nothing is dropped.
  static let byteLimit = Int.mebibytes(1_024)

  private let folder: String
  private let cache = Locked<DiskCache?>(nil)

  init(folder: String) {
    self.folder = folder
  }

  func renew() throws {
    try close()
    try FileManager.default.makeNewFolder(folder)
    let new = DiskCache(directory: URL(filePath: folder), byteLimit: Self.byteLimit)
    _ = try awaited(new.count)
    cache.withLock { $0 = new }
  }

  func put(_ dataset: DiskDataset) throws {
    let cache = try opened()
    try cache.put(dataset)
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    let cache = try opened()
    return cache.sum(of: dataset)
  }

  func contains(_ dataset: DiskDataset) throws -> Int {
    let (cache, answers) = (try opened(), SignalSum(of: dataset.keys.count))
    for number in dataset.order {
      answers.add(cache.contains(dataset.keys[number])) { $0 ? 1 : 0 }
    }
    return answers.total()
  }

  func remove(_ dataset: DiskDataset) throws {
    let cache = try opened()
    for key in dataset.keys { cache.remove(key) }
    try awaited(cache.flush())
  }

  func count() throws -> Int {
    try awaited(opened().count)
  }

  func close() throws {
    let old = cache.withLock { cache in
      defer { cache = nil }
      return cache
    }
    if let old { try awaited(old.close()) }
  }

  private func opened() throws -> DiskCache {
    guard let cache = cache.withLock({ $0 }) else {
      throw FileTrouble(path: folder, reason: "not open")
    }
    return cache
  }
}

extension DiskCache {
  /// Sets all values and waits until they are written, in batches because the write queue is
  /// limited.
  func put(_ dataset: DiskDataset) throws {
    var waiting = 0
    for number in dataset.keys.indices {
      set(dataset.values[number], for: dataset.keys[number])
      waiting += dataset.size
      if waiting >= .mebibytes(32) {
        try awaited(flush())
        waiting = 0
      }
    }
    try awaited(flush())
  }

  /// Gets all values at once, in disorder, and waits until all gets have ended.
  func sum(of dataset: DiskDataset) -> Int {
    let answers = SignalSum(of: dataset.keys.count)
    for number in dataset.order { answers.add(get(dataset.keys[number])) { $0.glance } }
    return answers.total()
  }
}
