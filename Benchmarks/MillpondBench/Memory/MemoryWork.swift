import MillpondSignals
import MillpondTesting

extension Work {
  /// Returns hits of all keys by each of several threads, in random order, each from another place
  /// on: as often as the number of operations allows.
  static func hits<Contender: MemoryContender>(
    _: Contender.Type, _ keys: [String], threads: Int
  ) -> Work {
    let visits = Kept(disorder(of: keys.count).map { Contender.key(keys[$0]) })
    let contender = Contender(visits.value, visits.value.indices.map(Contender.value))
    let count = keys.count
    return Work(
      Contender.name, expected: { $0 / count * triangle(count) },
      prepare: {
        // Visits all once more, since a contender that follows another with the same keys would find
        // them in the processor's caches.
        _ = contender.sum(of: visits.value, from: 0)
      },
      run: { operations in
        let sum = Locked(0)
        together(threads) { thread in
          for _ in 0..<operations / threads / count {
            let part = contender.sum(of: visits.value, from: count * thread / threads)
            sum.withLock { $0 += part }
          }
        }
        return sum.withLock { $0 }
      })
  }

  /// Returns sets of new keys in a full contender, a new one each time, so that the number of its
  /// values stays the same.
  static func inserts<Contender: MemoryContender>(
    _: Contender.Type, _ keys: [String], size: Int
  ) -> Work {
    let keys = Kept(keys.map(Contender.key))
    let values = Kept(keys.value.indices.map(Contender.value))
    let filled = Kept<Contender?>(nil)
    return Work(
      Contender.name, expected: { _ in filled.value?.count(among: keys.value) ?? 0 },
      prepare: {
        filled.value = Contender(Array(keys.value[..<size]), Array(values.value[..<size]))
      },
      run: { operations in
        guard let contender = filled.value else { return 0 }
        for number in size..<(size + operations) {
          contender.keep(values.value[number], for: keys.value[number])
        }
        return size
      })
  }
}

extension MemoryContender {
  /// Creates a full one.
  init(_ keys: [Key], _ values: [Value]) {
    self.init(limit: keys.count)
    for (key, value) in zip(keys, values) { keep(value, for: key) }
  }

  /// Gets all keys, beginning with that at a place, and returns the sum of their values.
  fileprivate func sum(of keys: [Key], from first: Int) -> Int {
    var sum = 0
    for key in keys[first...] { sum &+= number(for: key) ?? -1 }
    for key in keys[..<first] { sum &+= number(for: key) ?? -1 }
    return sum
  }

  /// Counts the values one by one, because NSCache does not report their number.
  func count(among keys: [Key]) -> Int {
    keys.count { number(for: $0) != nil }
  }
}

/// Returns the numbers up to `count` in a random order that is always the same.
func disorder(of count: Int) -> [Int] {
  var random = SeededGenerator(seed: 99)
  return (0..<count).shuffled(using: &random)
}
