import Foundation

/// Ranks whose frequencies fall with a power: the second occurs 2^`exponent` times less often than
/// the first, the third 3^`exponent` times, and so on.
struct Zipf {
  /// The cumulated frequencies up to each rank, as multiples of the first.
  private let cumulated: [Double]

  /// - Parameter count: The number of ranks, at least one.
  init(exponent: Double, count: Int) {
    var sum = 0.0
    cumulated = (0..<max(1, count)).map { rank in
      sum += pow(Double(rank + 1), -exponent)
      return sum
    }
  }

  /// Returns a rank, counted from zero.
  ///
  /// - Complexity: O(log *n*) for *n* ranks.
  func rank(_ random: inout SeededRandom) -> Int {
    let sought = random.fraction() * cumulated[cumulated.count - 1]
    var ranks = 0..<cumulated.count - 1
    while !ranks.isEmpty {
      let middle = ranks.lowerBound + ranks.count / 2
      ranks =
        cumulated[middle] > sought ? ranks.lowerBound..<middle : middle + 1..<ranks.upperBound
    }
    return ranks.lowerBound
  }
}
