/// Returns the rows about a cache in memory, with String keys of 40 characters, beside a dictionary
/// under our own lock, without a policy, and `NSCache`, with objects made beforehand.
///
/// Keys are visited in random order, and by the stored instances.
func memoryRows() -> [Row] {
  [
    .hits("1k", 1_000, [Target(times: 0.75), Target(times: 0.15, floor: "NSCache")]),
    .hits("100k", 100_000, [Target(times: 1), Target(times: 0.15, floor: "NSCache")]),
    .hits("100k-2", 100_000, threads: 2, [Target(times: 0.5)]),
    .hits("1m", 1_000_000),
    Row(
      "memory-insert-str-1k", "a new key in a full cache, 1000 entries",
      [Target(times: 0.06, floor: "NSCache")], repetitions: 21
    ) { run in
      let count = run.count(100_000, quick: 2_000)
      let keys = (0..<count + 1_000).map(Work.stringKey)
      let works: [Work] = [
        .inserts(MillpondMemory.self, keys, size: 1_000),
        .inserts(NSCacheContender.self, keys, size: 1_000),
      ]
      return (works, operations: count)
    },
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

extension Row {
  fileprivate static func hits(
    _ name: String, _ size: Int, threads: Int = 1, _ targets: [Target] = []
  ) -> Row {
    Row(
      "memory-hit-str-\(name)", "a hit, \(size) entries, threads: \(threads)", targets,
      repetitions: size < 10_000 ? 21 : size < 1_000_000 ? 11 : 3,
      threads == 1 ? .best : .median
    ) { run in
      let size = run.count(size, quick: min(size, 10_000))
      let keys = (0..<size).map(Work.stringKey)
      let passes = max(1, run.count(200_000, quick: 2_000) / size)
      let works: [Work] = [
        .hits(MillpondMemory.self, keys, threads: threads),
        .hits(DictionaryContender.self, keys, threads: threads),
        .hits(NSCacheContender.self, keys, threads: threads),
      ]
      return (works, operations: passes * threads * size)
    }
  }
}

/// Returns the bytes of each entry of a full contender; nil if the system does not report them.
private func weight<Contender: MemoryContender>(
  _: Contender.Type, _ keys: [String], _ sample: inout Sample
) -> Double? {
  let (keys, values) = (keys.map(Contender.key), keys.indices.map(Contender.value))
  var filled = Contender(limit: 0)
  let bytes = SystemReport.growth(per: keys.count) { filled = Contender(keys, values) }
  sample.isSumRight = filled.count(among: keys) == keys.count && sample.isSumRight
  return bytes
}
