/// Small panels side by side, each with a line for every series: percents over a log scale.
struct LineChart {
  struct Series {
    let name: String

    /// The index into the palette.
    let colour: Int

    /// The width of its lines: a thick one remains visible below a thin one.
    let width: Double
  }

  struct Line {
    /// The index into the chart's series.
    let series: Int
    let points: [(x: Double, y: Double)]
  }

  struct Panel {
    let title: String

    /// The text beside the title.
    let note: String

    /// The lines in the order in which they cover each other.
    let lines: [Line]
  }

  let title: String
  let series: [Series]
  let panels: [Panel]
  var palette = Palette()

  /// Returns the picture, an element of SVG.
  ///
  /// Points that have no place, neither on a log scale nor among the percents, are left out.
  func drawn() -> Drawing {
    let layout = LineLayout(
      titles: panels.map { $0.title + "  " + $0.note },
      values: panels.flatMap(\.lines).flatMap { $0.points.map(\.x) },
      headWidth: max(heading.width, legend.width))
    var canvas = Canvas()
    canvas.write(heading, at: (LineLayout.margin, 28), palette.ink)
    legend.draw(on: &canvas, at: (LineLayout.margin, 50), palette)
    for (number, panel) in panels.enumerated() {
      draw(panel, in: layout.plot(number), on: &canvas, layout)
    }
    return canvas.drawing(
      width: layout.width, height: layout.height, title: title, background: palette.background)
  }

  private func draw(
    _ panel: Panel, in plot: Box, on canvas: inout Canvas, _ layout: LineLayout
  ) {
    let y = PercentScale(for: panel.lines.flatMap { $0.points.map(\.y) }, length: plot.height)
    canvas.write(
      LineLayout.text(panel.title), at: (plot.x, plot.y - LineLayout.titleRise), palette.ink)
    canvas.write(
      LineLayout.text(panel.note), at: (plot.right, plot.y - LineLayout.titleRise), palette.faint,
      .end)
    drawAxis(above: plot, on: &canvas, layout)
    SideAxis(marks: y.marks, palette: palette).draw(on: &canvas, along: plot)
    for line in panel.lines {
      let points = line.points.filter { (0...100).contains($0.y) }.compactMap { point in
        layout.x.position(of: point.x).map {
          (x: plot.x + $0, y: plot.bottom - y.position(of: point.y))
        }
      }
      draw(points, series[line.series], on: &canvas)
    }
  }

  private func drawAxis(above plot: Box, on canvas: inout Canvas, _ layout: LineLayout) {
    // Its lines extend above the plot, so that its first label is clear of the topmost side label.
    var plot = plot
    plot.y -= LineLayout.tick
    plot.height += LineLayout.tick
    Axis(marks: layout.x.marks(labelWidth: Axis.labelWidth), palette: palette)
      .draw(on: &canvas, across: plot)
  }

  private func draw(
    _ points: [(x: Double, y: Double)], _ series: Series, on canvas: inout Canvas
  ) {
    if points.isEmpty { return }
    let colour = palette.colour(of: series.colour)
    canvas.path(through: points, colour, width: series.width)
    for point in points { canvas.dot(at: point, radius: series.width / 2 + 1, colour) }
  }
}

extension LineChart {
  fileprivate var heading: Text {
    Text(content: title, size: 15)
  }

  fileprivate var legend: Legend {
    Legend(
      entries: series.map {
        (.patch(palette.colour(of: $0.colour)), LineLayout.text($0.name))
      })
  }
}
