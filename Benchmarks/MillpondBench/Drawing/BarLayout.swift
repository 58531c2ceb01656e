/// Where the parts of a bar chart go.
struct BarLayout {
  static let margin = 16.0

  /// Between a bar and what stands beside it.
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

  /// All of a chart's text but its title is of one size.
  static func text(_ content: String) -> Text {
    Text(content: content, size: 11)
  }

  func x(of value: Double) -> Double? {
    scale.position(of: value).map { plot.x + $0 }
  }

  /// The bar's own; without width where there is none.
  func box(of value: Double, group: Int, line: Int) -> Box {
    Box(
      x: plot.x, y: tops[group] + Double(line) * Self.lineHeight,
      width: scale.position(of: value) ?? 0, height: Self.lineHeight - 1)
  }

  /// Where a label ends, in the middle of its group.
  func labelPlace(ofGroup group: Int) -> (x: Double, y: Double) {
    (plot.x - Self.air, tops[group] + heights[group] / 2 + 4)
  }
}
