/// A scale of percents that begins and ends with a round one.
struct PercentScale {
  /// The length of the whole line.
  let length: Double

  private let first: Int
  private let last: Int
  private let step: Int

  /// Makes a scale that has room for each of `values`; those outside 0 to 100 are left out.
  init(for values: [Double], length: Double) {
    self.length = length
    let percents = values.filter { (0...100).contains($0) }
    let (least, greatest) = (percents.min() ?? 0, percents.max() ?? 100)
    let step = [5, 10].first { greatest - least <= Double(4 * $0) } ?? 20
    let lower = Int(least) / step * step
    self.step = step
    last = max(step, Int((greatest / Double(step)).rounded(.up)) * step)
    // One round number alone would have a line without length.
    first = min(lower, last - step)
  }

  /// Returns the distance from the beginning.
  func position(of percent: Double) -> Double {
    (percent - Double(first)) / Double(last - first) * length
  }

  var marks: [Mark] {
    stride(from: first, through: last, by: step).map {
      Mark(position: position(of: Double($0)), label: "\($0)")
    }
  }
}
