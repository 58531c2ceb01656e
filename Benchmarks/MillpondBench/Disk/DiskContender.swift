import MillpondSignals

/// A store of values on disk: our cache, or one that it is compared with.
protocol DiskContender: Sendable {
  static var name: String { get }

  /// Opens it in an empty folder; it is closed when it is released.
  init(folder: String) throws

  /// Stores all values, and waits until they are written.
  func put(_ dataset: DiskDataset) throws

  /// Gets each value once, in disorder, and returns the sum of their glances.
  func get(_ dataset: DiskDataset) throws -> Int

  /// Looks up each value, in disorder, and returns the number of those found.
  func contains(_ dataset: DiskDataset) throws -> Int

  /// Removes all values, and waits until they are removed on disk.
  func remove(_ dataset: DiskDataset) throws
}

/// For contenders that can only store and read.
extension DiskContender {
  func contains(_ dataset: DiskDataset) -> Int { 0 }
  func remove(_ dataset: DiskDataset) {}
}

/// The operation on each of many values.
enum DiskOperation: String {
  case put
  case get
  case contains
  case remove
}

extension Work {
  /// Returns the work of an operation on all values of a contender.
  ///
  /// The sum compares the values found with those that were put; after a removal none may be left.
  static func disk<Contender: DiskContender>(
    _ operation: DiskOperation, _: Contender.Type, _ dataset: DiskDataset, _ folder: WorkFolder
  ) -> Work {
    let opened = Kept<Contender?>(nil)
    return Work(
      Contender.name, few: dataset.keys.count,
      expected: { _ in
        switch operation {
        case .put: try opened.value?.get(dataset) ?? 0
        case .get: dataset.sum
        case .contains: dataset.keys.count
        case .remove: try opened.value?.contains(dataset) ?? 0
        }
      },
      prepare: {
        // An operation that only reads finds the same values each time.
        if opened.value != nil, operation == .get || operation == .contains { return }
        opened.value = nil
        let contender = try Contender(folder: folder.fresh(Contender.name))
        if operation != .put { try contender.put(dataset) }
        opened.value = contender
      },
      run: { _ in
        switch operation {
        case .put: try opened.value?.put(dataset)
        case .get: return try opened.value?.get(dataset) ?? 0
        case .contains: return try opened.value?.contains(dataset) ?? 0
        case .remove: try opened.value?.remove(dataset)
        }
        return operation == .put ? dataset.sum : 0
      })
  }
}
