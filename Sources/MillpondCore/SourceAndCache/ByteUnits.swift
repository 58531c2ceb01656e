extension Int {
  /// Returns `count` × 1,024, for limits in bytes; saturates on overflow.
  public static func kibibytes(_ count: Int) -> Int {
    saturating(count, 1 << 10)
  }

  /// Returns `count` × 1,048,576, for limits in bytes; saturates on overflow.
  public static func mebibytes(_ count: Int) -> Int {
    saturating(count, 1 << 20)
  }

  /// Returns `count` × 1,073,741,824, for limits in bytes; saturates on overflow.
  public static func gibibytes(_ count: Int) -> Int {
    saturating(count, 1 << 30)
  }

  private static func saturating(_ count: Int, _ unit: Int) -> Int {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    return overflow ? (count < 0 ? .min : .max) : product
  }
}
