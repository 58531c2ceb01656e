import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// Times the opening of a folder, until its number of entries is known.
func measure(
  _ row: DiskRow, _ opening: DiskRow.Opening, _ effort: DiskEffort, at workFolder: WorkFolder
) throws -> DiskMeasurement {
  let filled = FilledFolder(
    opening, workFolder.path(of: "opened"), left: workFolder.path(of: "left"))
  defer { filled.remove() }
  try filled.fill(effort.count(opening.count))
  var timing = Timing(filled.openings(row.name), 1)
  for _ in 0..<effort.repetitions { timing.repeatOnce() }
  return DiskMeasurement(
    row, [timing.figure(.best) / 1_000_000, nil, nil, nil], isInMemory: workFolder.isInMemory,
    isSumRight: timing.isSumRight)
}

/// A folder with entries that is opened again and again.
private final class FilledFolder: Sendable {
  private let opening: DiskRow.Opening
  private let folder: String

  /// The copy of the folder as a crash leaves it.
  private let left: String

  private let count = Locked(0)
  private let cache = Locked<DiskCache?>(nil)

  init(_ opening: DiskRow.Opening, _ folder: String, left: String) {
    self.opening = opening
    self.folder = folder
    self.left = left
  }

  /// Fills the folder, and copies it before the cache is closed if a crash is to be measured.
  func fill(_ count: Int) throws {
    self.count.withLock { $0 = count }
    try FileManager.default.makeNewFolder(folder)
    let cache = newCache()
    try cache.put(DiskDataset(size: 200, count: count))
    if !opening.isClosed { try FileManager.default.copyItem(atPath: folder, toPath: left) }
    try awaited(cache.close())
  }

  /// Returns the work of opening the folder as it was left, counting its entries and closing it.
  func openings(_ name: String) -> Work {
    Work(
      name,
      expected: { _ in
        sound(or: .max) {
          try self.close()
          return self.count.withLock { $0 }
        }
      },
      prepare: { sound { try self.restore() } },
      run: { _ in
        sound(or: .min) {
          let new = self.newCache()
          self.cache.withLock { $0 = new }
          return try awaited(new.count)
        }
      })
  }

  func remove() {
    sound {
      try close()
      try FileManager.default.removeFolder(folder)
      try FileManager.default.removeFolder(left)
    }
  }

  private func newCache() -> DiskCache {
    DiskCache(directory: URL(filePath: folder), byteLimit: MillpondDisk.byteLimit)
  }

  private func restore() throws {
    if opening.isClosed { return }
    try FileManager.default.removeFolder(folder)
    try FileManager.default.copyItem(atPath: left, toPath: folder)
  }

  private func close() throws {
    let old = cache.withLock { cache in
      defer { cache = nil }
      return cache
    }
    if let old { try awaited(old.close()) }
  }
}
