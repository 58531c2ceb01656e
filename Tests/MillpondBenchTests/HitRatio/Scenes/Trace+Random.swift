@testable import MillpondBench

extension Trace {
  /// Returns a short trace of few keys, and of sizes from none at all to more than fits into
  /// anything.
  static func random(seed: UInt64, length: Int, keys keyCount: Int) -> Trace {
    var random = SeededRandom(seed: seed)
    let sizes = (0..<keyCount).map { _ in UInt32(random.number(below: 12)) }
    let numbers = (0..<length).map { _ in random.number(below: keyCount) }
    return Trace(
      name: "random", keys: numbers.map { UInt64($0) * 1_000_003 }, sizes: numbers.map { sizes[$0] }
    )
  }

  /// The same without sizes.
  var unsized: Trace {
    Trace(name: name, keys: keys)
  }
}
