extension LineChart {
  /// Draws the cells as lines, a panel for each trace.
  init(of cells: [HitRatioCell]) {
    let groups = Dictionary(grouping: cells, by: \.label)
    var labels: [String] = []
    for cell in cells where cell.label != labels.last { labels.append(cell.label) }
    self.init(
      title: "Hit ratio in percent, over the capacity in percent of a trace's footprint",
      series: [
        Series(name: "optimum", colour: 2, width: 1.5), Series(name: "LRU", colour: 1, width: 3),
        Series(name: "ours, and its mean gain over LRU in points", colour: 0, width: 1.5),
      ],
      panels: labels.map { Panel(title: $0, of: groups[$0] ?? []) })
  }
}

extension LineChart.Panel {
  fileprivate init(title: String, of cells: [HitRatioCell]) {
    self.init(
      title: title, note: cells.map(\.gain).mean.map(points) ?? "",
      lines: [
        .init(series: 0, points: cells.compactMap { c in c.optimum.map { (c.percent, $0) } }),
        .init(series: 1, points: cells.map { ($0.percent, $0.leastRecentlyUsed) }),
        .init(series: 2, points: cells.map { ($0.percent, $0.ours) }),
      ])
  }
}
