import Dispatch
import Foundation
import Millpond
import MillpondCore
import MillpondSignals

/// Returns a row about ten sets of every key, in disorder.
func overwritingRow() -> Row {
  Row(
    "disk-overwrite-written", "ten sets of every key: bytes written ÷ bytes set", unit: "×",
    measure: overwrite)
}

/// Repeated sets of the same keys, in disorder.
struct Overwrites {
  static let size = 1_024

  let keys: [String]

  /// The key of each set, by number.
  let order: [Int]

  init(keys count: Int, rounds: Int) {
    keys = (0..<count).map(DiskDataset.key)
    order = Visits.disorderly(0..<(count * rounds), threads: 1).ofThreads[0].map { $0 % count }
  }

  /// Twice the room of the values and of their overhead.
  var byteLimit: Int { 2 * keys.count * (Self.size + 128) }

  /// The number of sets that may wait to be written.
  ///
  /// It is so small that a waiting set is hardly ever overtaken by one of its key, which would save
  /// a write, and that the queue is short.
  var openLimit: Int { max(1, keys.count / 300) }

  /// The last set of each key.
  var last: [Int] {
    order.enumerated().reduce(into: keys.map { _ in 0 }) { last, turn in
      last[turn.element] = turn.offset
    }
  }
}

private func overwrite(_ run: Run, _ sample: inout Sample) throws {
  let overwrites = Overwrites(keys: run.count(20_000, quick: 400), rounds: 10)
  let cache = DiskCache(
    directory: URL(filePath: try run.folder.fresh("overwritten")), byteLimit: overwrites.byteLimit)
  _ = try awaited(cache.count)
  let before = SystemReport.writtenBytes
  let window = DispatchSemaphore(value: overwrites.openLimit)
  let failures = Locked(0)
  for (turn, number) in overwrites.order.enumerated() {
    window.wait()
    cache.set(.numbered(turn, Overwrites.size), for: overwrites.keys[number]).subscribe(
      onFailed: { _ in
        failures.withLock { $0 += 1 }
        window.signal()
      }, onCompleted: { window.signal() })
  }
  try awaited(cache.flush())
  // Every key has its last value or none.
  let wrong = SignalSum(of: overwrites.keys.count)
  for (key, turn) in zip(overwrites.keys, overwrites.last) {
    wrong.add(cache.get(key)) { $0 == .numbered(turn, Overwrites.size) ? 0 : 1 }
  }
  sample.isSumRight = wrong.total() == 0 && failures.withLock { $0 } == 0
  try awaited(cache.close())
  let written = before.flatMap { before in SystemReport.writtenBytes.map { $0 - before } }
  sample.value = written.map { Double($0) / Double(overwrites.order.count * Overwrites.size) }
}
