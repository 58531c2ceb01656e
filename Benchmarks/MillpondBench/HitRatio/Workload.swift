import Foundation

/// Generated accesses, the same in every run, in patterns that are typical of caches.
struct Workload {
  private static let seed: UInt64 = 0x6D69_6C6C_706F_6E64

  /// The first of the keys that do not recur.
  private static let passing: UInt64 = 1 << 32

  let name: String
  private let keys: (inout SeededRandom) -> [UInt64]

  func trace() -> Trace {
    var random = SeededRandom(seed: Self.seed)
    return Trace(name: name, keys: keys(&random))
  }

  /// Returns one workload of each kind.
  ///
  /// - Parameter length: The approximate number of accesses of each.
  static func all(length: Int) -> [Workload] {
    [
      Workload(name: "zipf-0.8") { zipf(0.8, length, &$0) },
      Workload(name: "zipf-0.99") { zipf(0.99, length, &$0) },
      Workload(name: "zipf-scans") { zipfWithScans(length, &$0) },
      Workload(name: "loop") { _ in loopAmongPassing(length) },
      Workload(name: "phases") { phases(length, &$0) },
      Workload(name: "uniform") { uniform(length, &$0) },
    ]
  }

  /// Returns popular keys, and ever less popular ones.
  private static func zipf(
    _ exponent: Double, _ length: Int, _ random: inout SeededRandom
  ) -> [UInt64] {
    let zipf = Zipf(exponent: exponent, count: length / 10)
    return (0..<length).map { _ in UInt64(zipf.rank(&random)) }
  }

  /// Returns popular keys, with a quarter of the accesses in runs of keys that do not recur.
  private static func zipfWithScans(_ length: Int, _ random: inout SeededRandom) -> [UInt64] {
    let zipf = Zipf(exponent: 0.99, count: length / 20)
    let round = length / 40
    return (0..<length).map { place in
      place % round < round * 3 / 4 ? UInt64(zipf.rank(&random)) : passing + UInt64(place)
    }
  }

  /// Returns a loop over a bit more than a tenth of all keys; every eleventh access is for a key
  /// that does not recur.
  private static func loopAmongPassing(_ length: Int) -> [UInt64] {
    (0..<length).map { place in
      place % 11 == 0 ? passing + UInt64(place) : UInt64(place % (length / 90))
    }
  }

  /// Returns new and recent keys, then a loop over a bit more than a tenth of all, then new ones
  /// again.
  private static func phases(_ length: Int, _ random: inout SeededRandom) -> [UInt64] {
    let loop = (0..<length / 3).map { UInt64($0 % (length / 25)) }
    let before = recency(length / 3, from: passing, &random)
    return before + loop + recency(length / 3, from: 2 * passing, &random)
  }

  private static func recency(
    _ length: Int, from first: UInt64, _ random: inout SeededRandom
  ) -> [UInt64] {
    var newest = first
    return (0..<length).map { _ in
      if random.fraction() < 0.5 {
        newest += 1
        return newest
      }
      let age = -log(1 - random.fraction()) * Double(length) / 70
      return newest - min(UInt64(age), newest - first)
    }
  }

  /// Returns all keys equally often, so that a cache can learn nothing.
  private static func uniform(_ length: Int, _ random: inout SeededRandom) -> [UInt64] {
    (0..<length).map { _ in UInt64(random.number(below: length / 10)) }
  }
}
