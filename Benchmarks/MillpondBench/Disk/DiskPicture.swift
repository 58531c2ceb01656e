import Foundation

extension BarChart {
  /// Draws the rows in microseconds as bars: ours, and those it is compared with.
  init(of rows: [DiskMeasurement]) {
    self.init(
      title: "Millpond: microseconds per operation on disk, on a log scale",
      series: ["ours", "one file", "a file each", "Foundation"], targetName: "target",
      groups: rows.filter { $0.unit == "µs" }.map {
        Group(label: $0.name, bars: $0.bars, target: $0.targetFigure)
      })
  }
}

extension DiskMeasurement {
  fileprivate var bars: [BarChart.Bar] {
    let figures = [
      (ours, nil), (oneFile, oneFileRatio), (fileEach, fileEachRatio),
      (foundation, foundationRatio),
    ]
    return figures.enumerated().compactMap { series, figure in
      figure.0.map { value in
        let note = figure.1.map { String(format: "(ours %.2f×)", $0) }
        let ownNote = isSumRight ? "" : "WRONG SUM"
        return BarChart.Bar(series: series, value: value, note: note ?? ownNote)
      }
    }
  }

  /// The strictest of the targets, in the unit of the row.
  fileprivate var targetFigure: Double? {
    [
      targets.ours, product(targets.oneFile, oneFile), product(targets.fileEach, fileEach),
      product(targets.foundation, foundation),
    ].compactMap(\.self).min()
  }

  private func product(_ ratio: Double?, _ figure: Double?) -> Double? {
    ratio.flatMap { ratio in figure.map { ratio * $0 } }
  }
}
