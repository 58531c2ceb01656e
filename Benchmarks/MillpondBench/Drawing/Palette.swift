/// The colours of a picture.
struct Palette {
  let background = "#ffffff"
  let ink = "#1f2328"
  let faint = "#57606a"
  let grid = "#d0d7de"
  let mark = "#bc4c00"

  /// The colours of the series, in order.
  let series = ["#0969da", "#8c959f", "#1a7f37", "#8250df"]

  func colour(of number: Int) -> String {
    series[number % series.count]
  }
}
