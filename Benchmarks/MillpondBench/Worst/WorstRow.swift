import Foundation

/// An operation whose worst case is measured.
struct WorstRow: NamedRow, Sendable {
  let name: String
  let summary: String
  var unit = WorstUnit.total

  /// The greatest number of things at which it is measured.
  var greatest = 1_000_000

  /// The target for the longest wait of another thread, in milliseconds; nil without one.
  var waitTarget: Double? = 1

  /// The target for the cost at the greatest size, in the unit; nil without one.
  var costTarget: Double?

  /// Whether it shows the growth of work that is not Millpond's, which has no targets.
  var isFloor = false

  /// Prepares the operation on that many things.
  let prepare: @Sendable (Int) throws -> WorstCase

  static let all =
    worstFloorRows() + worstMemoryRows() + worstFlightRows() + worstLimitRows() + worstEntityRows()
    + worstDiskRows() + worstByteRows()
}

/// The cost that a row measures.
enum WorstUnit: String, Sendable {
  /// Work on all of *n* things, in milliseconds.
  case total = "ms"

  /// One operation beside *n* things, in microseconds.
  case single = "µs"

  /// The memory that each of *n* things takes, in bytes.
  case bytes = "B"

  /// The greatest accepted exponent of growth: linear with the effect of the processor's caches, or
  /// almost none.
  var exponentTarget: Double {
    self == .total ? 1.1 : 0.2
  }

  /// The number of these in the unit of the figures: a second, or a byte.
  var perUnit: Double {
    switch self {
    case .total: 1_000
    case .single: 1_000_000
    case .bytes: 1
    }
  }
}

/// An operation that is about to be measured.
struct WorstCase {
  /// The work that is measured.
  let body: () throws -> Void

  /// A cheap operation that another thread repeats meanwhile.
  let neighbour: @Sendable () -> Void

  /// Checks that the work was done, and ends the preparation.
  let check: () throws -> Bool
}

/// The result of a row.
struct WorstMeasurement: Encodable {
  let name: String
  let summary: String
  let unit: String

  /// The cost at each size, in the unit; fewer where larger sizes were not affordable.
  let sizes: [Int]
  let costs: [Double]

  /// The exponent of growth from the smallest size to the largest.
  let exponent: Double?
  let exponentTarget: Double?

  /// The longest wait of the other thread at the largest size, in milliseconds; and the longest time
  /// of the processor, on other threads of this process, during one wait.
  let wait: Double?
  let busy: Double?
  let waitTarget: Double?
  let costTarget: Double?
  let isSumRight: Bool

  init(_ row: WorstRow, _ figures: [WorstFigures]) {
    (name, summary, unit) = (row.name, row.summary, row.unit.rawValue)
    sizes = figures.map(\.size)
    costs = figures.map { $0.cost * row.unit.perUnit }
    exponent = figures.growth
    exponentTarget = row.isFloor ? nil : row.unit.exponentTarget
    wait = row.unit == .bytes ? nil : figures.last.map { $0.longestWait * 1_000 }
    busy = row.unit == .bytes ? nil : figures.last.map { $0.busiestWait * 1_000 }
    waitTarget = row.unit == .bytes ? nil : row.waitTarget
    costTarget = row.costTarget
    isSumRight = figures.allSatisfy(\.isSumRight)
  }

  /// The verdict on the target in a word.
  var verdict: String {
    if !isSumRight { return "WRONG" }
    let misses = [
      ("grows", exponent, exponentTarget), ("waits", busy, waitTarget),
      ("costs", costs.last, costTarget),
    ].filter { _, figure, target in
      figure.flatMap { figure in target.map { figure > $0 } } ?? false
    }
    return misses.isEmpty ? "met" : misses.map(\.0).joined(separator: ", ")
  }
}

/// The figures of a row at one size.
struct WorstFigures {
  let size: Int

  /// The seconds of the work, or the bytes for each thing.
  var cost = Double.infinity
  var longestWait = Double.infinity

  /// The longest time of the processor on other threads of the process during one wait, in seconds.
  var busiestWait = Double.infinity
  var isSumRight = true
}

extension [WorstFigures] {
  /// The exponent of growth from the smallest size to the largest; nil of fewer than two.
  var growth: Double? {
    guard count > 1, let first, let last else { return nil }
    return log(last.cost / first.cost) / log(Double(last.size) / Double(first.size))
  }
}

/// The rows as a table for people.
struct WorstTable: ResultTable {
  /// The explanation of the columns.
  static let legend = """
    ms: processor time of work on n things. µs: of one operation among n things. B: bytes of memory
    for each of n things. growth: the exponent from the smallest n to the largest. wait: the longest
    time that another thread waited at the largest n, in milliseconds. busy: the longest time that
    other threads of this process worked during one wait; the rest of a wait is the system's, which
    let neither of them run. ≤: the targets, that of the cost at the largest n, and that of busy. The
    best of several repetitions, since other processes disturb them.
    worst-floor-dictionary shows how much of the growth is the processor's, whose caches are small,
    and worst-floor-lock what a lock that is never held for a microsecond lets wait on this machine.
    """

  let columns: Columns
  let titles: [String]
  private let sizes: [Int]

  init(for rows: [WorstRow], _ effort: WorstEffort) {
    sizes = effort.sizes
    titles =
      ["row", "unit"] + sizes.map { "\($0)" } + ["≤", "growth", "≤", "wait", "busy", "≤", ""]
    let widths =
      [rows.map(\.name.count).max() ?? 0, 4] + sizes.map { _ in 10 } + [6, 6, 4, 8, 8, 4, 12]
    columns = Columns(widths: widths, leftAligned: [0, 1, widths.count - 1])
  }

  func cells(_ row: WorstMeasurement) -> [String] {
    let costs = sizes.indices.map { $0 < row.costs.count ? digits(row.costs[$0], 2) : "" }
    return [row.name, row.unit] + costs + [
      digits(row.costTarget, 0), digits(row.exponent, 2), digits(row.exponentTarget, 1),
      digits(row.wait, 2), digits(row.busy, 2), digits(row.waitTarget, 0), row.verdict,
    ]
  }
}
