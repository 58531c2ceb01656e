/// A place on a scale that is worth a line and a label.
struct Mark: Equatable {
  /// The distance from the scale's beginning.
  let position: Double
  let label: String
}

/// Lines across a plot, from top to bottom, with their labels above it.
struct Axis {
  /// The greatest width of a label, with air on both sides.
  static let labelWidth = Text(content: "1000000", size: Axis.fontSize).width + 12

  /// The height of the labels above the plot.
  static let height = 18.0

  private static let fontSize = 11.0

  let marks: [Mark]
  let palette: Palette

  func draw(on canvas: inout Canvas, across plot: Box) {
    for mark in marks {
      let x = plot.x + mark.position
      canvas.line(from: (x, plot.y), to: (x, plot.bottom), palette.grid)
      canvas.write(
        Text(content: mark.label, size: Self.fontSize), at: (x, plot.y - 5), palette.faint, .middle)
    }
  }
}
