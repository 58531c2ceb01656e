import Foundation
import MillpondSignals

/// A shelf on disk and its contents: work to be measured.
final class StockedDisk<Kept: DiskShelf>: Sendable {
  private let goods: Goods
  private let sum: Int
  private let folder: String
  private let shelf: Kept
  private let isStocked = Locked(false)

  init(_ goods: Goods, at site: Site) {
    self.goods = goods
    sum = goods.sum
    folder = site.path(of: "\(Kept.self)")
    shelf = Kept(folder: folder)
  }

  /// Returns the work of a row on all values.
  func task(_ operation: DiskRow.Operation) -> DiskTask {
    let timed =
      switch operation {
      case .put: puts(operation.rawValue)
      case .get: gets(operation.rawValue)
      case .contains: questions(operation.rawValue)
      case .remove: removals(operation.rawValue)
      }
    return DiskTask(timed: timed, count: goods.keys.count, end: end)
  }

  /// Returns the work of putting all values into an empty shelf; a check compares what is found
  /// later.
  private func puts(_ name: String) -> Work {
    Work(
      name, expected: { _ in sound(or: .max) { try self.shelf.get(self.goods) } },
      prepare: { sound { try self.shelf.renew() } },
      run: { _ in
        sound(or: .min) {
          try self.shelf.put(self.goods)
          return self.sum
        }
      })
  }

  private func gets(_ name: String) -> Work {
    Work(
      name, expected: { _ in self.sum }, prepare: { sound { try self.stock() } },
      run: { _ in sound(or: .min) { try self.shelf.get(self.goods) } })
  }

  private func questions(_ name: String) -> Work {
    Work(
      name, expected: { _ in self.goods.keys.count }, prepare: { sound { try self.stock() } },
      run: { _ in sound(or: .min) { try self.shelf.contains(self.goods) } })
  }

  /// Removes all from a full shelf; nothing may be kept after that.
  private func removals(_ name: String) -> Work {
    Work(
      name, expected: { _ in sound(or: .max) { try self.shelf.count() } },
      prepare: {
        sound {
          try self.shelf.renew()
          try self.shelf.put(self.goods)
        }
      },
      run: { _ in
        sound(or: .min) {
          try self.shelf.remove(self.goods)
          return 0
        }
      })
  }

  private func stock() throws {
    if isStocked.withLock({ $0 }) { return }
    try shelf.renew()
    try shelf.put(goods)
    isStocked.withLock { $0 = true }
  }

  private func end() {
    sound {
      try shelf.close()
      try FileManager.default.removeFolder(folder)
    }
  }
}

/// Some work, its number of operations, and the clean-up after the last repetition.
struct DiskTask {
  let timed: Work
  let count: Int
  let end: () -> Void
}

/// Returns the result of `work`, or `trouble` after reporting that it failed.
func sound<Outcome>(or trouble: Outcome, _ work: () throws -> Outcome) -> Outcome {
  do {
    return try work()
  } catch {
    FileHandle.standardError.write(Data("millpond-bench: \(error)\n".utf8))
    return trouble
  }
}

/// Performs `work`, and reports a failure at once.
func sound(_ work: () throws -> Void) {
  sound(or: (), work)
}
