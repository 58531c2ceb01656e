/// The result of a row about the disk.
struct DiskMeasurement: Encodable {
  let name: String
  let summary: String
  let unit: String

  /// The figure of the cache; this and the others are nil if the system cannot measure them or
  /// there is nothing to compare.
  let ours: Double?

  let oneFile: Double?
  let fileEach: Double?
  let foundation: Double?

  /// Ours as a multiple of one file's.
  let oneFileRatio: Double?

  /// Ours as a multiple of a file for each value.
  let fileEachRatio: Double?

  /// Ours as a multiple of Foundation's.
  let foundationRatio: Double?

  let targets: DiskRow.Targets

  /// Whether the files were in memory only.
  let isInMemory: Bool

  let isSumRight: Bool

  /// Whether all targets were met; nil if the row has none, or nothing was measured.
  let isMet: Bool?

  /// - Parameter figures: Ours, one file's, a file each's and Foundation's.
  init(_ row: DiskRow, _ figures: [Double?], isInMemory: Bool, isSumRight: Bool) {
    name = row.name
    summary = row.summary
    unit = row.unit
    let ours = figures[0]
    self.ours = ours
    (oneFile, fileEach, foundation) = (figures[1], figures[2], figures[3])
    let ratios = figures.dropFirst().map { other in
      ours.flatMap { ours in other.map { ours / $0 } }
    }
    (oneFileRatio, fileEachRatio, foundationRatio) = (ratios[0], ratios[1], ratios[2])
    let targets = row.targets(isInMemory: isInMemory)
    self.targets = targets
    self.isInMemory = isInMemory
    self.isSumRight = isSumRight
    let promises = [
      (ours, targets.ours), (ratios[0], targets.oneFile), (ratios[1], targets.fileEach),
      (ratios[2], targets.foundation),
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
