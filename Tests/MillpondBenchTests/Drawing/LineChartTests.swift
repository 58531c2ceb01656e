import Testing

@testable import MillpondBench

@Suite struct LineChartTests {
  @Test func `each panel has its title, its note and a line for every series`() throws {
    let picture = try #require(ParsedPicture(chart(["corda", "loop"]).drawn().document))

    for text in ["Title", "ours", "floor", "corda", "loop", "+1.0"] {
      #expect(picture.texts.contains(text))
    }
    #expect(picture.named("polyline").count == 2 * 2)
    #expect(picture.named("circle").count == 2 * 2 * 3)
  }

  @Test func `more is further up, and a larger capacity further to the right`() throws {
    let points = [(0.1, 10.0), (1, 20), (5, 20.5), (25, 90)]
    let chart = chart(["a"], points: points)
    let picture = try #require(ParsedPicture(chart.drawn().document))

    let dots = picture.named("circle").prefix(4).map { ($0.number("cx"), $0.number("cy")) }
    for (dot, next) in zip(dots, dots.dropFirst()) {
      #expect(dot.0 < next.0)
      #expect(dot.1 > next.1)
    }
  }

  @Test(arguments: [0, 1, 3, 4, 5, 18])
  func `nothing overlaps, and nothing is cut off`(count: Int) throws {
    let titles = (0..<count).map { "panel \($0)" + String(repeating: " & W", count: $0 * 3) }

    expectRoom(try #require(ParsedPicture(chart(titles).drawn().document)))
  }

  @Test(arguments: [(0, 50), (-1, 50), (.nan, 50), (1, .nan), (1, 101), (1, -1)])
  func `a point without a place is left out`(point: (Double, Double)) throws {
    let chart = chart(["a"], points: [(1, 20), point, (10, 40)])
    let picture = try #require(ParsedPicture(chart.drawn().document))

    #expect(picture.named("circle").count == 2 * 2)
    expectRoom(picture)
  }

  @Test func `without points there is a panel, with nothing but its frame`() throws {
    let picture = try #require(ParsedPicture(chart(["a"], points: []).drawn().document))

    #expect(picture.texts.contains("a"))
    #expect(picture.named("polyline").isEmpty)
    expectRoom(picture)
  }

  private func chart(
    _ titles: [String], points: [(Double, Double)] = [(0.1, 0), (1, 50), (25, 100)]
  ) -> LineChart {
    LineChart(
      title: "Title",
      series: [
        .init(name: "floor", colour: 1, width: 3), .init(name: "ours", colour: 0, width: 1),
      ],
      panels: titles.map { title in
        .init(
          title: title, note: "+1.0", lines: (0..<2).map { .init(series: $0, points: points) })
      })
  }

  /// Checks that no text overlaps another, and that everything is inside the picture.
  private func expectRoom(_ picture: ParsedPicture) {
    let background = picture.background
    let texts = picture.named("text").map(\.box)
    for (number, text) in texts.enumerated() {
      #expect(text.x >= 0 && text.y >= 0)
      #expect(text.right <= background.width && text.bottom <= background.height)
      for other in texts[..<number] { #expect(!text.overlaps(other), "\(text) \(other)") }
    }
    for dot in picture.named("circle") {
      #expect((0...background.width).contains(dot.number("cx")))
      #expect((0...background.height).contains(dot.number("cy")))
    }
  }
}
