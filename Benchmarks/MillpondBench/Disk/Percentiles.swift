/// Sorted numbers.
struct Percentiles {
  private let sorted: [Double]

  init(of numbers: [Double]) {
    sorted = numbers.sorted()
  }

  /// Returns the smallest number that is not exceeded by this share of all; zero if there are none.
  ///
  /// - Parameter share: The share, from 0 to 1.
  func at(_ share: Double) -> Double {
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted.isEmpty ? 0 : sorted[max(0, min(rank, sorted.count) - 1)]
  }
}
