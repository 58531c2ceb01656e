/// The growth of work that is not Millpond's.
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
    }
  ]
}
