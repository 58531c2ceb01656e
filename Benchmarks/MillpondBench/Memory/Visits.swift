/// The keys that the threads of a row get or set, by number: the same in every run.
struct Visits {
  /// The interval of writes in ``mixed(size:count:threads:)``: the last of each group of visits.
  static let writeEvery = 20

  /// The visits of each thread, in order.
  let ofThreads: [[Int]]

  /// The number of visits of all threads together.
  var count: Int {
    ofThreads.reduce(0) { $0 + $1.count }
  }

  /// Returns all of `numbers` in disorder for each thread, with a different beginning.
  static func disorderly(_ numbers: Range<Int>, threads: Int) -> Visits {
    let shuffled = shuffled(numbers)
    return Visits(
      ofThreads: (0..<threads).map { thread in
        let first = shuffled.count * thread / threads
        return Array(shuffled[first...] + shuffled[..<first])
      })
  }

  /// Returns `numbers` divided among the threads, without the remainder.
  static func shared(_ numbers: Range<Int>, threads: Int) -> Visits {
    let count = numbers.count / threads
    return Visits(
      ofThreads: (0..<threads).map { thread in
        Array(numbers.dropFirst(count * thread).prefix(count))
      })
  }

  /// Returns numbers below `size`, a few often and most seldom, by Zipf's law with exponent 0.99.
  ///
  /// - Parameter count: The number of a thread's visits, rounded down to a multiple of
  ///   ``writeEvery``.
  static func mixed(size: Int, count: Int, threads: Int) -> Visits {
    let law = Zipf(exponent: 0.99, count: size)
    // Otherwise the oldest would be the most popular ones.
    let numbers = shuffled(0..<size)
    return Visits(
      ofThreads: (0..<threads).map { thread in
        var random = SeededRandom(seed: UInt64(thread + 1))
        return (0..<(count - count % writeEvery)).map { _ in numbers[law.rank(&random)] }
      })
  }

  private static func shuffled(_ numbers: Range<Int>) -> [Int] {
    var random = SeededRandom(seed: 99)
    var shuffled = Array(numbers)
    for index in shuffled.indices.reversed() {
      shuffled.swapAt(index, random.number(below: index + 1))
    }
    return shuffled
  }
}
