import Foundation
import MillpondSignals

/// A store of values on disk: our cache, or one that it is compared with.
protocol DiskContender: Sendable {
  static var name: String { get }

  /// Opens it in an empty folder.
  init(folder: String) throws

  /// Stores all values, and waits until they are written.
  func put(_ dataset: DiskDataset) throws

  /// Gets each value once, in disorder, and returns the sum of their glances.
  func get(_ dataset: DiskDataset) throws -> Int

  /// Looks up each value, in disorder, and returns the number of those found.
  func contains(_ dataset: DiskDataset) throws -> Int

  /// Removes all values, and waits until they are removed on disk.
  func remove(_ dataset: DiskDataset) throws

  /// Returns the number of values.
  func count() throws -> Int

  /// Closes the files.
  func close() throws
}

extension DiskContender {
  func close() {}
}

/// A contender on disk and its contents: work to be measured.
final class FilledDisk<Kept: DiskContender>: Sendable {
  private let dataset: DiskDataset
  private let folder: WorkFolder
  private let contender = Locked<Kept?>(nil)

  init(_ dataset: DiskDataset, _ folder: WorkFolder) {
    (self.dataset, self.folder) = (dataset, folder)
  }

  deinit {
    try? contender.withLock { $0 }?.close()
  }

  /// Returns the work of an operation on all values, and its number of operations.
  ///
  /// The sum compares the values found with those that were put; after a removal none may be left.
  func work(_ operation: DiskOperation) -> (work: Work, operations: Int) {
    let sum = dataset.sum
    let work =
      switch operation {
      case .put:
        Work(
          Kept.name, expected: { _ in try self.kept().get(self.dataset) },
          prepare: { try self.renew() },
          run: { _ in
            try self.kept().put(self.dataset)
            return sum
          })
      case .get:
        Work(
          Kept.name, expected: { _ in sum }, prepare: { try self.fillOnce() },
          run: { _ in try self.kept().get(self.dataset) })
      case .contains:
        Work(
          Kept.name, expected: { _ in self.dataset.keys.count }, prepare: { try self.fillOnce() },
          run: { _ in try self.kept().contains(self.dataset) })
      case .remove:
        Work(
          Kept.name, expected: { _ in try self.kept().count() },
          prepare: {
            try self.renew()
            try self.kept().put(self.dataset)
          },
          run: { _ in
            try self.kept().remove(self.dataset)
            return 0
          })
      }
    return (work, dataset.keys.count)
  }

  private func fillOnce() throws {
    if contender.withLock({ $0 != nil }) { return }
    try renew()
    try kept().put(dataset)
  }

  private func renew() throws {
    try contender.withLock { $0 }?.close()
    let new = try Kept(folder: folder.fresh(Kept.name))
    contender.withLock { $0 = new }
  }

  private func kept() throws -> Kept {
    guard let kept = contender.withLock({ $0 }) else { throw FileTrouble(path: Kept.name) }
    return kept
  }
}
