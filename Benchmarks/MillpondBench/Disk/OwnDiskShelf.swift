import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// The disk cache of this project.
final class OwnDiskShelf: DiskShelf {
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

  func put(_ goods: Goods) throws {
    let cache = try opened()
    try cache.put(goods)
  }

  func get(_ goods: Goods) throws -> Int {
    let cache = try opened()
    return cache.sum(of: goods)
  }

  func contains(_ goods: Goods) throws -> Int {
    let (cache, answers) = (try opened(), Answers(of: goods.keys.count))
    for number in goods.order {
      answers.add(cache.contains(goods.keys[number])) { $0 ? 1 : 0 }
    }
    return answers.total()
  }

  func remove(_ goods: Goods) throws {
    let cache = try opened()
    for key in goods.keys { cache.remove(key) }
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
  func put(_ goods: Goods) throws {
    var waiting = 0
    for number in goods.keys.indices {
      set(goods.values[number], for: goods.keys[number])
      waiting += goods.size
      if waiting >= .mebibytes(32) {
        try awaited(flush())
        waiting = 0
      }
    }
    try awaited(flush())
  }

  /// Gets all values at once, in disorder, and waits until all gets have ended.
  func sum(of goods: Goods) -> Int {
    let answers = Answers(of: goods.keys.count)
    for number in goods.order { answers.add(get(goods.keys[number])) { $0.glance } }
    return answers.total()
  }
}
