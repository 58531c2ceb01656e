import Foundation

/// Groups of horizontal bars on a log scale, each with its value at its end.
struct BarChart {
  struct Bar {
    /// The index into the chart's series, for the colour.
    let series: Int
    let value: Double

    /// The text after the value.
    var note = ""
  }

  struct Group {
    let label: String
    let bars: [Bar]

    /// A mark across the group's first bar; nil for none, not shown outside the scale.
    var target: Double?
  }

  let title: String

  /// The meaning of the colours, in the order of `Bar.series`.
  let series: [String]
  let targetName: String
  let groups: [Group]
  var palette = Palette()

  /// Returns the picture, an element of SVG.
  ///
  /// A value that has no logarithm (zero, less, infinite, not a number) has no bar, and is written
  /// as it is.
  func drawn() -> Drawing {
    let layout = BarLayout(of: self)
    var canvas = Canvas()
    drawHead(on: &canvas, layout)
    Axis(marks: layout.marks, palette: palette).draw(on: &canvas, across: layout.plot)
    for (number, group) in groups.enumerated() { draw(group, number, on: &canvas, layout) }
    return canvas.drawing(
      width: layout.width, height: layout.height, title: title, background: palette.background)
  }

  private func drawHead(on canvas: inout Canvas, _ layout: BarLayout) {
    canvas.write(heading, at: (BarLayout.margin, 28), palette.ink)
    legend.draw(on: &canvas, at: (BarLayout.margin, 50), palette)
  }

  private func draw(
    _ group: Group, _ number: Int, on canvas: inout Canvas, _ layout: BarLayout
  ) {
    let label = layout.labelPlace(ofGroup: number)
    canvas.write(BarLayout.text(group.label), at: label, palette.ink, .end)
    for (line, bar) in group.bars.enumerated() {
      let box = layout.box(of: bar.value, group: number, line: line)
      let tick = line == 0 ? group.target.flatMap { layout.x(of: $0) } : nil
      if box.width > 0 { canvas.fill(box, palette.colour(of: bar.series)) }
      // The grid must not run through letters.
      let text = bar.text
      let end = max(box.right, tick ?? 0) + BarLayout.air
      canvas.fill(
        Box(x: end - 2, y: box.y, width: text.width + 4, height: box.height), palette.background)
      canvas.write(text, at: (end, box.bottom - 2), palette.ink)
      if let tick {
        canvas.line(
          from: (tick, box.y - 1), to: (tick, box.bottom + 1), palette.mark, width: 2.5)
      }
    }
  }
}

extension BarChart {
  var heading: Text {
    Text(content: title, size: 15)
  }

  var legend: Legend {
    Legend(
      entries: series.enumerated().map { number, name in
        (.patch(palette.colour(of: number)), BarLayout.text(name))
      }
        + (groups.contains { $0.target != nil }
          ? [(.stroke(palette.mark), BarLayout.text(targetName))] : []))
  }
}

extension BarChart.Bar {
  var text: Text {
    BarLayout.text(note.isEmpty ? value.threeDigits : "\(value.threeDigits) \(note)")
  }
}

extension Double {
  /// Three significant digits, or an exponent instead of too many zeros.
  fileprivate var threeDigits: String {
    let size = abs(self)
    if self == 0 || !isFinite { return "\(self)" }
    if size < 0.000_1 || size >= 1_000_000 { return String(format: "%.2e", self) }
    let places = max(0, 2 - Int(log10(size).rounded(.down)))
    return String(format: "%.\(places)f", self)
  }
}

/// The places of the parts of a bar chart.
struct BarLayout {
  static let margin = 16.0

  /// The gap between a bar and the text beside it.
  static let air = 7.0

  private static let head = 62.0
  private static let lineHeight = 13.0
  private static let groupGap = 7.0
  private static let scaleLength = 520.0

  let width: Double
  let height: Double
  let marks: [Mark]

  /// The scale's length, and the height of all groups.
  let plot: Box

  private let scale: LogScale
  private let tops: [Double]
  private let heights: [Double]

  init(of chart: BarChart) {
    let groups = chart.groups
    let values = groups.flatMap { $0.bars.map(\.value) }
    let targets = groups.compactMap(\.target)
    scale = LogScale(for: values + targets, length: Self.scaleLength)
    marks = scale.marks(labelWidth: Axis.labelWidth)

    let labels = groups.map { Self.text($0.label).width }.max() ?? 0
    let notes = groups.flatMap { $0.bars.map(\.text.width) }.max() ?? 0
    heights = groups.map { Double(max(1, $0.bars.count)) * Self.lineHeight }
    var y = Self.head + Axis.height + Self.groupGap
    var tops: [Double] = []
    for height in heights {
      tops.append(y)
      y += height + Self.groupGap
    }
    self.tops = tops
    let top = Self.head + Axis.height
    plot = Box(
      x: Self.margin + labels + Self.air, y: top, width: Self.scaleLength, height: y - top)
    let right = plot.right + max(Self.air + notes, Axis.labelWidth / 2)
    width = max(right, Self.margin + max(chart.heading.width, chart.legend.width)) + Self.margin
    height = y + Self.margin
  }

  /// Returns a text in the one size of all texts but the title.
  static func text(_ content: String) -> Text {
    Text(content: content, size: 11)
  }

  func x(of value: Double) -> Double? {
    scale.position(of: value).map { plot.x + $0 }
  }

  /// Returns the bar's own box, which has no width without a value.
  func box(of value: Double, group: Int, line: Int) -> Box {
    Box(
      x: plot.x, y: tops[group] + Double(line) * Self.lineHeight,
      width: scale.position(of: value) ?? 0, height: Self.lineHeight - 1)
  }

  /// Returns the end of a label, in the middle of its group.
  func labelPlace(ofGroup group: Int) -> (x: Double, y: Double) {
    (plot.x - Self.air, tops[group] + heights[group] / 2 + 4)
  }
}
