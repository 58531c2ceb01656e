/// The keys that the threads of a row get or set, by number: the same in every run.
struct Visits {
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

  private static func shuffled(_ numbers: Range<Int>) -> [Int] {
    var random = SeededRandom(seed: 99)
    var shuffled = Array(numbers)
    for index in shuffled.indices.reversed() {
      shuffled.swapAt(index, random.number(below: index + 1))
    }
    return shuffled
  }
}
