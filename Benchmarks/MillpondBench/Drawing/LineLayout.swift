/// The places of the panels of a line chart.
struct LineLayout {
  static let margin = 16.0

  /// The length by which lines extend above a plot.
  static let tick = 4.0

  /// The distance from the baseline of a panel's title to its plot, with the axis between them.
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
  ///   - titles: The titles of the panels.
  ///   - values: The values for which `x` has room.
  ///   - headWidth: The width of the head above all panels.
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

  /// Returns a text in the one size of all texts but the title.
  static func text(_ content: String) -> Text {
    Text(content: content, size: 11)
  }

  /// Returns the box of a panel's lines.
  func plot(_ number: Int) -> Box {
    var box = plot
    box.x += Self.margin + Double(number % Self.columns) * (plot.right + Self.gap.x)
    box.y += Self.head + Double(number / Self.columns) * (plot.bottom + Self.gap.y)
    return box
  }
}
