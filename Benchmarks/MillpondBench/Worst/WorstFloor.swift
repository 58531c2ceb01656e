import MillpondSignals

/// The growth of work, and the waits, that are not Millpond's.
func worstFloorRows() -> [WorstRow] {
  [
    WorstRow(
      name: "worst-floor-dictionary",
      summary: "n new keys in a dictionary, and their removal: growth by the processor's caches",
      waitTarget: nil, isFloor: true
    ) { count in
      var dictionary: [Int: Int] = [:]
      var isRight = false
      return WorstCase {
        for key in 0..<count { dictionary[key] = key }
        isRight = dictionary.count == count
        for key in 0..<count { dictionary[key] = nil }
      } neighbour: {
      } check: {
        isRight && dictionary.isEmpty
      }
    },
    WorstRow(
      name: "worst-floor-lock",
      summary: "n additions of a hundred numbers under a lock: waits by the scheduler",
      waitTarget: nil, isFloor: true
    ) { count in
      let sum = Locked(0)
      let hundred = { @Sendable in sum.withLock { for _ in 0..<100 { $0 ^= $0 << 1 | 1 } } }
      for _ in 0..<count { hundred() }
      let expected = sum.withLock { exchange(&$0, with: 0) }
      return WorstCase {
        for _ in 0..<count { hundred() }
      } neighbour: {
        sum.withLock { $0 ^= 0 }
      } check: {
        sum.withLock { $0 == expected }
      }
    },
  ]
}
