import Foundation

extension BarChart {
  /// Draws the table as bars: ours, and the floor below it.
  init(of rows: [Measurement]) {
    self.init(
      title: "Millpond: nanoseconds per operation, on a log scale",
      series: ["ours, and its ratio to the floor", "the floor of the same work"],
      targetName: "target",
      groups: rows.map { Group(label: $0.name, bars: $0.bars, target: $0.target) })
  }
}

extension Measurement {
  /// One bar for a floor, two for any other row: ours, and its floor.
  fileprivate var bars: [BarChart.Bar] {
    let note = isSumRight ? String(format: "(%.1f×)", ratio) : "WRONG SUM"
    if isFloor { return [.init(series: 1, value: nanoseconds, note: isSumRight ? "" : note)] }
    return [
      .init(series: 0, value: nanoseconds, note: note),
      .init(series: 1, value: baselineNanoseconds, note: baseline),
    ]
  }
}
