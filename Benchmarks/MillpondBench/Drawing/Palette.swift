/// The colours of a picture.
struct Palette {
  var background = "#ffffff"
  var ink = "#1f2328"
  var faint = "#57606a"
  var grid = "#d0d7de"
  var mark = "#bc4c00"

  /// The colours of the series, in order.
  var series = ["#0969da", "#8c959f", "#1a7f37", "#8250df"]

  /// The colours of the page around the picture, light or dark.
  static let ofPage = Palette(
    background: "var(--card)", ink: "var(--text)", faint: "var(--soft)", grid: "var(--line)",
    mark: "var(--mark)", series: (0..<4).map { "var(--series\($0))" })

  func colour(of number: Int) -> String {
    series[number % series.count]
  }
}
