/// The result of a row about the network.
struct NetworkMeasurement: Encodable {
  let name: String
  let summary: String
  let unit: String
  let ours: Double?

  /// The bare session's.
  let bare: Double?

  /// The target in words.
  let target: String

  /// Whether the target was met; nil if that cannot be decided.
  let isMet: Bool?
  let isSumRight: Bool

  init(_ row: NetworkRow, _ figures: NetworkFigures) {
    name = row.name
    summary = row.summary
    unit = row.unit
    (ours, bare, isSumRight) = (figures.ours, figures.bare, figures.isSumRight)
    let (ours, bare) = (figures.ours, figures.bare)
    switch row.target {
    case .atMost(let limit):
      target = "≤ \(digits(limit, 0))"
      isMet = ours.map { $0 <= limit }
    case .atLeastShare(let share):
      target = "≥ \(digits(share, 2)) of bare"
      isMet = ours.flatMap { ours in bare.map { ours >= share * $0 } }
    case .atMostTimes(let factor):
      target = "≤ \(digits(factor, 1)) × bare"
      isMet = ours.flatMap { ours in bare.map { ours <= factor * $0 } }
    case .atMostOver(let limit):
      target = "≤ bare + \(digits(limit, 0))"
      isMet = ours.flatMap { ours in bare.map { ours - $0 <= limit } }
    }
  }

  /// The verdict on the target in a word.
  var verdict: String {
    if !isSumRight { return "WRONG" }
    return isMet.map { $0 ? "met" : "missed" } ?? ""
  }
}
