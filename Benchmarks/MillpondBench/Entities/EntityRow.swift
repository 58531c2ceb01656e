import MillpondEntities
/// Something about the entity store that is measured.
struct EntityRow: Sendable {
  let name: String
  let summary: String
  var unit = "ns"

  /// The upper bound; nil without a target.
  var target: Double?

  /// The upper bound as a multiple of the other figure; nil without a target.
  var ratioTarget: Double?

  let measure: @Sendable (EntityEffort) -> EntityFigures

  static let all = [
    EntityRow(
      name: "entities-get", summary: "a get among 100,000, compared with a dictionary under a lock",
      measure: measureGet),
    EntityRow(
      name: "entities-set",
      summary: "a set without observers, compared with a dictionary under a lock",
      measure: measureSet),
    EntityRow(
      name: "entities-set-threads", summary: "the same by two threads, compared with one",
      measure: measureSetByTwo),
    EntityRow(
      name: "entities-notice", summary: "a set, its notice to the observer, and the return",
      measure: measureNotice),
    EntityRow(
      name: "entities-notice-1k", summary: "a notice, if each set sends a thousand",
      measure: measureManyNotices),
    EntityRow(
      name: "entities-touch-3",
      summary:
        "an observed transaction of three objects among a million, compared with a thousand",
      ratioTarget: 2, measure: measureTouch),
    EntityRow(
      name: "entities-chain-100k",
      summary: "one node of the path through an observed chain of 100,000",
      measure: measureChain),
    EntityRow(
      name: "entities-query-100k",
      summary: "a change that moves one entity in a sorted list of 100,000",
      measure: measureQuery),
    EntityRow(
      name: "entities-prune-100k",
      summary: "an entity that is examined and kept, compared with one that is dropped",
      measure: measurePrune),
    EntityRow(
      name: "entities-limit-100k",
      summary: "a set and a get at a limit of 100,000, compared with the longest set",
      measure: measureLimit),
    EntityRow(
      name: "entities-bytes", summary: "bytes per entity of 72 bytes, compared with a dictionary",
      unit: "bytes", measure: measureBytes),
  ]
}

extension EntityRow: NamedRow {}

/// The figures of a row; nil if the system cannot measure them or there is nothing to compare.
struct EntityFigures {
  var ours: Double?
  var other: Double?
  var isSumRight = true
}

/// The result of a row.
struct EntityMeasurement: Encodable {
  let name: String
  let summary: String
  let unit: String
  let ours: Double?

  /// The figure that the summary names after "beside".
  let other: Double?

  let ratio: Double?
  let target: Double?
  let ratioTarget: Double?
  let isMet: Bool?
  let isSumRight: Bool

  init(_ row: EntityRow, _ figures: EntityFigures) {
    (name, summary, unit) = (row.name, row.summary, row.unit)
    (ours, other, isSumRight) = (figures.ours, figures.other, figures.isSumRight)
    (target, ratioTarget) = (row.target, row.ratioTarget)
    let ratio = figures.ours.flatMap { ours in figures.other.map { ours / $0 } }
    self.ratio = ratio
    let promises = [(figures.ours, row.target), (ratio, row.ratioTarget)]
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

/// The rows as a table for people.
struct EntityReport: ResultTable {
  let titles = ["row", "unit", "ours", "≤", "other", "ratio", "≤", ""]

  /// The explanation of the columns.
  static let legend = """
    ours: EntityStore. other: the figure that the row is compared with, see --list. ratio: ours ÷
    other, in this run. Entities have an Int, a String and up to two references.
    """

  let columns: Columns

  init(for rows: [EntityRow]) {
    var widths = titles.map(\.count)
    widths[0] = rows.map(\.name.count).max() ?? 0
    for column in [2, 4] { widths[column] = 10 }
    for column in [5, 6] { widths[column] = 6 }
    columns = Columns(widths: widths, leftAligned: [0, 1, 7])
  }

  func cells(_ row: EntityMeasurement) -> [String] {
    [
      row.name, row.unit, row.ours.map { digits($0, 1) } ?? "not measured", digits(row.target, 0),
      digits(row.other, 1), digits(row.ratio, 2), digits(row.ratioTarget, 1), row.verdict,
    ]
  }
}
