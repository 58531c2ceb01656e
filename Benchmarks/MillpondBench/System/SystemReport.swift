import Foundation

extension SystemReport {
  /// The number of processes that wanted a processor in the last minute; nil if the system does not
  /// tell it.
  static var load: Double? {
    var loads = [Double](repeating: 0, count: 1)
    return getloadavg(&loads, 1) > 0 ? loads[0] : nil
  }

  /// Returns the growth of the process by what `body` allocates and keeps, in bytes of each of
  /// `count` things; nil if the system can't tell it.
  static func growth(per count: Int, _ body: () -> Void) -> Double? {
    giveBackFree()
    let before = residentBytes
    body()
    giveBackFree()
    let after = residentBytes
    return before.flatMap { before in after.map { Double($0 - before) / Double(count) } }
  }
}
