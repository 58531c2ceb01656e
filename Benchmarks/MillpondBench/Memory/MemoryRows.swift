import Foundation

/// Returns the rows about a cache in memory, with String keys of 40 characters, beside a dictionary
/// under our own lock, without a policy, and `NSCache`, with objects made beforehand.
///
/// Keys are visited in random order, and by the stored instances.
func memoryRows() -> [Row] {
  [
    .memory(
      .hit, 1_000, [Target(times: 0.75), Target(times: 0.15, floor: "NSCache")]),
    .memory(.hit, 100_000, [Target(times: 1), Target(times: 0.15, floor: "NSCache")]),
    .memory(.hit, 100_000, threads: 2, [Target(times: 0.5)]),
    .memory(.hit, 1_000_000),
    .memory(.miss, 100_000),
    .memory(.insert, 1_000, [Target(times: 0.06, floor: "NSCache")]),
    Row(
      "memory-bytes-str-100k", "bytes per entry, without keys and objects", unit: "bytes",
      [Target(atMost: 80)]
    ) { _, sample in
      let keys = (0..<100_000).map(Work.stringKey)
      sample.value = weight(MillpondMemory.self, keys, &sample)
      sample.floors = [
        Sample.Floor(name: "dictionary", value: weight(DictionaryContender.self, keys, &sample)),
        Sample.Floor(name: "NSCache", value: weight(NSCacheContender.self, keys, &sample)),
      ]
    },
  ]
}

/// The operation that a row measures for each key.
enum MemoryOperation: String {
  case hit
  case miss
  case insert

  fileprivate var title: String {
    switch self {
    case .hit: "a hit"
    case .miss: "a miss"
    case .insert: "a new key in a full cache"
    }
  }
}

extension Row {
  fileprivate static func memory(
    _ operation: MemoryOperation, _ size: Int, threads: Int = 1, _ targets: [Target] = []
  ) -> Row {
    let sizeName = size < 1_000_000 ? "\(size / 1_000)k" : "\(size / 1_000_000)m"
    let name = "memory-\(operation)-str-\(sizeName)" + (threads == 1 ? "" : "-\(threads)")
    let summary =
      "\(operation.title), \(size) entries" + (threads == 1 ? "" : ", \(threads) threads")
    return Row(name, summary, targets) { run, sample in
      let size = run.count(size, quick: min(size, 10_000))
      let strangers = run.count(100_000, quick: 2_000)
      let visits = run.count(200_000, quick: 2_000)
      let keys = (0..<size + strangers).map(Work.stringKey)
      let plan = operation.visits(size, strangers: strangers, threads: threads)
      let passes = operation == .insert ? 1 : max(1, visits * threads / plan.count)
      var works = [FilledMemory<MillpondMemory>(keys, size, plan).work(operation)]
      if operation != .insert {
        works.append(FilledMemory<DictionaryContender>(keys, size, plan).work(operation))
      }
      works.append(FilledMemory<NSCacheContender>(keys, size, plan).work(operation))
      let repetitions = size < 10_000 ? 21 : size < 1_000_000 ? 11 : 3
      try sample.measure(
        works.map { ($0, passes * plan.count) }, repetitions: run.count(repetitions, quick: 2),
        threads == 1 ? .best : .median)
    }
  }
}

extension MemoryOperation {
  fileprivate func visits(_ size: Int, strangers: Int, threads: Int) -> Visits {
    let others = size..<(size + strangers)
    return switch self {
    case .hit: .disorderly(0..<size, threads: threads)
    case .miss: .disorderly(others.prefix(size), threads: threads)
    case .insert: .shared(others, threads: threads)
    }
  }
}

/// Returns the bytes of each entry of a full contender; nil if the system does not report them.
private func weight<Kept: MemoryContender>(
  _: Kept.Type, _ keys: [String], _ sample: inout Sample
) -> Double? {
  let filled = FilledMemory<Kept>(keys, keys.count, Visits(ofThreads: []))
  let before = SystemReport.heapBytes
  filled.fill()
  let after = SystemReport.heapBytes
  sample.isSumRight = sample.isSumRight && filled.count() == keys.count
  return before.flatMap { before in after.map { Double($0 - before) / Double(keys.count) } }
}
