import Testing

@testable import MillpondBench

@Suite struct BarChartTests {
  private static let ours = "#0969da"

  @Test func `every row is there, with its values and notes`() throws {
    let chart = chart([("lock", [12.3, 4]), ("pipe", [1_234])])
    let picture = try #require(ParsedPicture(chart.drawn().document))

    for text in ["lock", "pipe", "12.3 ours", "4.00 floor", "1234 ours", "Title"] {
      #expect(picture.texts.contains(text))
    }
    #expect(picture.widths(of: Self.ours).count == 2 + 1, "and one of the legend")
  }

  @Test func `a greater value has a longer bar`() throws {
    let values = [0.02, 0.5, 1, 1.01, 9.9, 10, 11, 99, 100, 5_000, 1e7]
    let picture = try #require(ParsedPicture(chart(values.map { ("row", [$0]) }).drawn().document))

    let widths = picture.widths(of: Self.ours).dropFirst()
    #expect(widths.count == values.count)
    #expect(zip(widths, widths.dropFirst()).allSatisfy { $0 < $1 })
    #expect(widths.allSatisfy { $0 > 0 })
  }

  @Test func `names are text, whatever is in them`() throws {
    let name = "a<b> & \"c\" 'd' </text> ]]>"
    let drawn = chart([(name, [1])], title: "\u{1}&\u{7}<").drawn().document
    let picture = try #require(ParsedPicture(drawn))

    #expect(picture.texts.contains(name))
    #expect(picture.texts.contains("\u{FFFD}&\u{FFFD}<"))
  }

  @Test func `without rows there is a picture, with nothing but its frame`() throws {
    let picture = try #require(ParsedPicture(chart([]).drawn().document))

    #expect(picture.texts.contains("Title"))
    #expect(picture.widths(of: Self.ours).count == 1)
  }

  @Test(arguments: [0, -0.0, -3, .nan, .infinity, -.infinity])
  func `a value without a logarithm is written, without a bar`(value: Double) throws {
    let chart = chart([("odd", [value]), ("even", [2])], target: value)
    let picture = try #require(ParsedPicture(chart.drawn().document))

    #expect(picture.widths(of: Self.ours).count == 1 + 1)
    #expect(picture.texts.contains { $0.hasSuffix("ours") && !$0.hasPrefix("2.00") })
    expectRoom(picture)
  }

  @Test(arguments: [
    [Double.leastNonzeroMagnitude, .greatestFiniteMagnitude], [1e-9, 1e9], [1], [10],
    [999.9, 1_000],
  ])
  func `nothing overlaps, and nothing is cut off`(values: [Double]) throws {
    let rows = values.map { ("row of \($0)", [$0, $0 / 2]) }
    let long = (String(repeating: "long & wide W名", count: 6), [values[0]])
    let chart = chart(rows + [long], title: String(repeating: "Title ", count: 40), target: 70)

    expectRoom(try #require(ParsedPicture(chart.drawn().document)))
  }

  @Test func `the picture has a ground of its own`() throws {
    let picture = try #require(ParsedPicture(chart([("row", [1])]).drawn().document))

    let first = try #require(picture.named("rect").first)
    #expect(first.attributes["width"] == "100%")
    #expect(first.attributes["fill"] == "#ffffff")
  }

  private func chart(
    _ rows: [(String, [Double])], title: String = "Title", target: Double? = nil
  ) -> BarChart {
    BarChart(
      title: title, series: ["ours", "floor"], targetName: "target",
      groups: rows.map { label, values in
        .init(
          label: label,
          bars: values.enumerated().map { number, value in
            .init(series: number, value: value, note: number == 0 ? "ours" : "floor")
          }, target: target)
      })
  }

  /// Checks that each text has its room to itself, clear of bars and targets, and inside the
  /// picture.
  private func expectRoom(_ picture: ParsedPicture) {
    let texts = picture.named("text").map(\.box)
    let background = picture.background
    let bars = picture.named("rect").dropFirst()
      .filter { $0.attributes["fill"] != "#ffffff" }.map(\.box)
    for (number, text) in texts.enumerated() {
      #expect(text.x >= 0 && text.y >= 0)
      #expect(text.right <= background.width && text.bottom <= background.height)
      for other in bars + texts[..<number] { #expect(!text.overlaps(other), "\(text) \(other)") }
    }
  }
}
