/// Where the panels of a line chart go.
struct LineLayout {
  static let margin = 16.0

  /// How far lines stand out above a plot.
  static let tick = 4.0

  /// From the line that a panel's title stands on to its plot, the axis between them.
  static let titleRise = Axis.height + tick + 4

  private static let head = 62.0
  private static let columns = 4
  private static let least = (width: 200.0, height: 110.0)
  private static let gap = (x: 18.0, y: 16.0)
  private static let titleHeight = titleRise + 14

  let width: Double
  let height: Double

  /// The same in all panels.
  let x: LogScale

  private let plot: Box

  /// - Parameters:
  ///   - titles: Of the panels.
  ///   - values: That `x` has room for.
  ///   - headWidth: What stands above all panels needs so much.
  init(titles: [String], values: [Double], headWidth: Double) {
    let titleWidth = titles.map { Self.text($0).width }.max() ?? 0
    plot = Box(
      x: SideAxis.width, y: Self.titleHeight, width: max(Self.least.width, titleWidth),
      height: Self.least.height)
    x = LogScale(for: values, length: plot.width, air: 0)
    let columns = Double(min(Self.columns, titles.count))
    let rows = Double((titles.count + Self.columns - 1) / Self.columns)
    width = max(headWidth, columns * (plot.right + Self.gap.x)) + 2 * Self.margin
    height = Self.head + rows * (plot.bottom + Self.gap.y) + Self.margin
  }

  /// All of a chart's text but its title is of one size.
  static func text(_ content: String) -> Text {
    Text(content: content, size: 11)
  }

  /// Where a panel's lines go.
  func plot(_ number: Int) -> Box {
    var box = plot
    box.x += Self.margin + Double(number % Self.columns) * (plot.right + Self.gap.x)
    box.y += Self.head + Double(number / Self.columns) * (plot.bottom + Self.gap.y)
    return box
  }
}
