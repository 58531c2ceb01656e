import Foundation

/// A scale of positive numbers on which each decade has the same length.
///
/// The line begins and ends with a whole decade.
struct LogScale {
  private let decades: ClosedRange<Int>

  /// The length of the whole line.
  let length: Double

  /// Makes a scale that has room for each of `values`; those that have no logarithm are left out.
  ///
  /// - Parameter air: The part of a decade below the least value. Without it a bar on the lowest
  ///   decade would have no length; a point needs none.
  init(for values: [Double], length: Double, air: Double = 0.05) {
    self.length = length
    let exponents = values.filter(Self.canShow).map(log10)
    let lower = Int(((exponents.min() ?? 0) - air).rounded(.down))
    let upper = Int((exponents.max() ?? 0).rounded(.up))
    decades = lower...max(upper, lower + 1)
  }

  /// Whether a number has a place on scales like this.
  static func canShow(_ value: Double) -> Bool {
    value > 0 && value.isFinite
  }

  /// Returns the distance from the beginning; nil for a number without a logarithm.
  func position(of value: Double) -> Double? {
    guard Self.canShow(value) else { return nil }
    return min(max(position(ofExponent: log10(value)), 0), length)
  }

  /// Returns the decades, or every second, third… of them, if labels of that width need the room.
  func marks(labelWidth: Double) -> [Mark] {
    let room = length / Double(decades.count - 1)
    let step = max(1, Int((labelWidth / room).rounded(.up)))
    return stride(from: decades.lowerBound, through: decades.upperBound, by: step).map {
      Mark(position: position(ofExponent: Double($0)), label: Self.label(ofExponent: $0))
    }
  }

  private func position(ofExponent exponent: Double) -> Double {
    (exponent - Double(decades.lowerBound)) / Double(decades.count - 1) * length
  }

  private static func label(ofExponent exponent: Int) -> String {
    switch exponent {
    case 0...6: "1" + String(repeating: "0", count: exponent)
    case -4..<0: "0." + String(repeating: "0", count: -exponent - 1) + "1"
    default: "1e\(exponent)"
    }
  }
}
