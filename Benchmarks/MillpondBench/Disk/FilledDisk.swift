import Foundation
import MillpondSignals

/// A contender on disk and its contents: work to be measured.
final class FilledDisk<Kept: DiskContender>: Sendable {
  private let dataset: DiskDataset
  private let sum: Int
  private let folder: String
  private let contender: Kept
  private let isFilled = Locked(false)

  init(_ dataset: DiskDataset, at workFolder: WorkFolder) {
    self.dataset = dataset
    sum = dataset.sum
    folder = workFolder.path(of: "\(Kept.self)")
    contender = Kept(folder: folder)
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
    return DiskTask(timed: timed, count: dataset.keys.count, end: end)
  }

  /// Returns the work of putting all values into an empty contender; a check compares what is found
  /// later.
  private func puts(_ name: String) -> Work {
    Work(
      name, expected: { _ in sound(or: .max) { try self.contender.get(self.dataset) } },
      prepare: { sound { try self.contender.renew() } },
      run: { _ in
        sound(or: .min) {
          try self.contender.put(self.dataset)
          return self.sum
        }
      })
  }

  private func gets(_ name: String) -> Work {
    Work(
      name, expected: { _ in self.sum }, prepare: { sound { try self.stock() } },
      run: { _ in sound(or: .min) { try self.contender.get(self.dataset) } })
  }

  private func questions(_ name: String) -> Work {
    Work(
      name, expected: { _ in self.dataset.keys.count }, prepare: { sound { try self.stock() } },
      run: { _ in sound(or: .min) { try self.contender.contains(self.dataset) } })
  }

  /// Removes all from a full contender; nothing may be kept after that.
  private func removals(_ name: String) -> Work {
    Work(
      name, expected: { _ in sound(or: .max) { try self.contender.count() } },
      prepare: {
        sound {
          try self.contender.renew()
          try self.contender.put(self.dataset)
        }
      },
      run: { _ in
        sound(or: .min) {
          try self.contender.remove(self.dataset)
          return 0
        }
      })
  }

  private func stock() throws {
    if isFilled.withLock({ $0 }) { return }
    try contender.renew()
    try contender.put(dataset)
    isFilled.withLock { $0 = true }
  }

  private func end() {
    sound {
      try contender.close()
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
