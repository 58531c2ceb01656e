import Dispatch
import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// Measures all requested rows about overwriting by one run.
func measureOverwriting(
  _ rows: [DiskRow], _ effort: DiskEffort, at workFolder: WorkFolder,
  _ report: (DiskMeasurement) -> Void
) throws {
  let figures = rows.compactMap { row in
    if case .overwriting(let figure) = row.subject { (row, figure) } else { nil }
  }
  if figures.isEmpty { return }
  let folder = workFolder.path(of: "overwritten")
  let result = try overwrite(Overwrites(keys: effort.count(20_000), rounds: 10), in: folder)
  try FileManager.default.removeFolder(folder)
  for (row, figure) in figures {
    report(
      DiskMeasurement(
        row, [result.figure(figure), nil, nil, nil], isInMemory: workFolder.isInMemory,
        isSumRight: result.isSumRight))
  }
}

/// Repeated sets of the same keys, in disorder.
struct Overwrites {
  static let size = 1_024

  let keys: [String]

  /// The key of each set, by number.
  let order: [Int]

  /// Twice the room of the values and of their overhead.
  let byteLimit: Int

  init(keys count: Int, rounds: Int) {
    keys = (0..<count).map(DiskDataset.key)
    order = Visits.disorderly(0..<(count * rounds), threads: 1).ofThreads[0].map { $0 % count }
    byteLimit = 2 * count * (Self.size + 128)
  }

  /// The number of sets that may wait to be written.
  ///
  /// It is so small that a waiting set is hardly ever overtaken by one of its key, which would save
  /// a write, and that the queue is short.
  var openLimit: Int {
    max(1, keys.count / 300)
  }

  /// The last set of each key.
  var last: [Int] {
    order.enumerated().reduce(into: keys.map { _ in 0 }) { last, turn in
      last[turn.element] = turn.offset
    }
  }
}

/// The result of many sets.
struct OverwriteResult {
  let writtenBytes: Int?
  let valueBytes: Int
  let keptShare: Double

  /// The times of the calls and of their outcomes, in nanoseconds.
  let sets: Percentiles
  let outcomes: Percentiles

  /// Whether every set succeeded, and every key has its last value or none.
  let isSumRight: Bool

  func figure(_ figure: DiskRow.Overwriting) -> Double? {
    switch figure {
    case .written: writtenBytes.map { Double($0) / Double(valueBytes) }
    case .kept: keptShare * 100
    case .setMedian: sets.at(0.5) / 1_000
    case .setLate: sets.at(0.99) / 1_000
    case .setLatest: sets.at(1) / 1_000
    case .outcomeMedian: outcomes.at(0.5) / 1_000
    case .outcomeLate: outcomes.at(0.99) / 1_000
    case .outcomeLatest: outcomes.at(1) / 1_000
    }
  }
}

private func overwrite(_ overwrites: Overwrites, in folder: String) throws -> OverwriteResult {
  let cache = DiskCache(directory: URL(filePath: folder), byteLimit: overwrites.byteLimit)
  _ = try awaited(cache.count)
  let before = writtenBytes()
  let journal = SetJournal(
    count: overwrites.order.count, windowSize: overwrites.openLimit)
  for (turn, number) in overwrites.order.enumerated() {
    let value = Data.numbered(turn, Overwrites.size)
    journal.time(turn) { cache.set(value, for: overwrites.keys[number]) }
  }
  journal.waitForAll()
  try awaited(cache.flush())
  let kept = Locked(0)
  let wrong = SignalSum(of: overwrites.keys.count)
  for (key, turn) in zip(overwrites.keys, overwrites.last) {
    wrong.add(cache.get(key)) { value in
      kept.withLock { $0 += 1 }
      return value == .numbered(turn, Overwrites.size) ? 0 : 1
    }
  }
  let wrongCount = wrong.total()
  try awaited(cache.close())
  let after = writtenBytes()
  return OverwriteResult(
    writtenBytes: before.flatMap { before in after.map { $0 - before } },
    valueBytes: overwrites.order.count * Overwrites.size,
    keptShare: Double(kept.withLock { $0 }) / Double(overwrites.keys.count),
    sets: Percentiles(of: journal.sets), outcomes: Percentiles(of: journal.outcomes),
    isSumRight: wrongCount == 0 && journal.failures == 0)
}
