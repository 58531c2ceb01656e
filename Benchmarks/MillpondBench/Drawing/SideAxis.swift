/// Lines across a plot, from left to right, with their labels at its left.
struct SideAxis {
  /// The greatest width of the labels, with the air beside them.
  static let width = Text(content: "100", size: fontSize).width + 6

  private static let fontSize = 10.0

  /// The marks, from the bottom up.
  let marks: [Mark]
  let palette: Palette

  func draw(on canvas: inout Canvas, along plot: Box) {
    for mark in marks {
      let y = plot.bottom - mark.position
      canvas.line(from: (plot.x, y), to: (plot.right, y), palette.grid)
      canvas.write(
        Text(content: mark.label, size: Self.fontSize), at: (plot.x - 4, y + 3), palette.faint, .end
      )
    }
  }
}
