/// Numbers in their order.
struct Percentiles {
  private let sorted: [Double]

  init(of numbers: [Double]) {
    sorted = numbers.sorted()
  }

  /// The smallest number that such a share of all does not exceed; zero where there are none.
  ///
  /// - Parameter share: From 0 to 1.
  func at(_ share: Double) -> Double {
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted.isEmpty ? 0 : sorted[max(0, min(rank, sorted.count) - 1)]
  }
}
