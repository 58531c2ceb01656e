/// The result of a row of the matrix: nanoseconds an operation, or bytes an entry.
struct MemoryMeasurement: Encodable {
  let name: String
  let summary: String
  let unit: String

  /// The figure of the cache; this and the others are nil if the system cannot measure them.
  let ours: Double?

  let dictionary: Double?
  let nsCache: Double?

  /// Ours as a multiple of the dictionary's.
  let dictionaryRatio: Double?

  /// Ours as a multiple of NSCache's.
  let nsCacheRatio: Double?

  let targets: MemoryRow.Targets
  let isSumRight: Bool

  /// Whether all targets were met; nil if the row has none, or nothing was measured.
  let isMet: Bool?

  /// - Parameter figures: Ours, the dictionary's and NSCache's.
  init(_ row: MemoryRow, _ figures: [Double?], isSumRight: Bool) {
    name = row.name
    summary = row.summary
    unit = row.operation.unit
    let (ours, dictionary, nsCache) = (figures[0], figures[1], figures[2])
    (self.ours, self.dictionary, self.nsCache) = (ours, dictionary, nsCache)
    let ratios = [dictionary, nsCache].map { other in
      ours.flatMap { ours in other.map { ours / $0 } }
    }
    (dictionaryRatio, nsCacheRatio) = (ratios[0], ratios[1])
    targets = row.targets
    self.isSumRight = isSumRight
    let promises = [
      (ours, targets.ours), (ratios[0], targets.dictionary), (ratios[1], targets.nsCache),
    ]
    let kept = promises.compactMap { figure, target in
      figure.flatMap { figure in target.map { figure <= $0 } }
    }
    isMet = kept.isEmpty ? nil : kept.allSatisfy(\.self)
  }

  /// The verdict on the row's targets in a word; empty without targets.
  var verdict: String {
    if !isSumRight { return "WRONG" }
    return isMet.map { $0 ? "met" : "missed" } ?? ""
  }
}
