extension BarChart {
  /// Draws the rows in nanoseconds: ours, and those it is compared with.
  init(of rows: [MemoryMeasurement]) {
    self.init(
      title: "Nanoseconds per operation in memory, on a log scale",
      series: ["ours", "a dictionary under a lock", "NSCache"], targetName: "target",
      groups: rows.filter { $0.unit == "ns" }.map { row in
        Group(
          label: row.name,
          bars: bars([
            (row.ours, nil), (row.dictionary, row.dictionaryRatio), (row.nsCache, row.nsCacheRatio),
          ]))
      })
  }

  /// Draws the rows in nanoseconds: ours, and what each is compared with.
  init(of rows: [EntityMeasurement]) {
    self.init(
      title: "Nanoseconds per operation on entities, on a log scale",
      series: ["ours", "what it is compared with"], targetName: "target",
      groups: rows.filter { $0.unit == "ns" }.map { row in
        Group(
          label: row.name, bars: bars([(row.ours, nil), (row.other, row.ratio)]),
          target: row.target)
      })
  }

  /// Draws the work on all things, a bar for each number of them: linear growth has steps of one
  /// length.
  init(of rows: [WorstMeasurement], _ effort: WorstEffort) {
    self.init(
      title: "Milliseconds of work on n things, on a log scale",
      series: effort.sizes.map { "n = \($0)" }, targetName: "target",
      groups: rows.filter { $0.unit == WorstUnit.total.rawValue }.map { row in
        Group(label: row.name, bars: bars(row.costs.map { ($0, nil) }))
      })
  }
}

/// Returns the bars of the figures that are known, each with ours as a multiple of it.
private func bars(_ figures: [(figure: Double?, ratio: Double?)]) -> [BarChart.Bar] {
  figures.enumerated().compactMap { series, figure in
    figure.figure.map { value in
      BarChart.Bar(
        series: series, value: value,
        note: figure.ratio.map { "(ours \(digits($0, 2))×)" } ?? "")
    }
  }
}
