/// What was asked of a cache, in order.
struct Trace {
  /// One question.
  struct Access {
    let key: UInt64

    /// Which of the trace's keys it is, counted from zero in the order of their first access.
    let number: Int

    /// In bytes; 1 where the trace knows no sizes.
    let size: Int
  }

  let name: String
  let keys: [UInt64]

  /// In bytes, of each access; nil where the trace knows no sizes.
  let sizes: [UInt32]?

  /// Of each access, which of the keys it asks for.
  let numbers: [Int]

  /// How many different keys there are.
  let keyCount: Int

  /// The sizes of all different keys together, each as it was at its first access.
  let byteCount: Int

  init(name: String, keys: [UInt64], sizes: [UInt32]? = nil) {
    self.name = name
    self.keys = keys
    self.sizes = sizes
    var numberOfKey: [UInt64: Int] = [:]
    var numbers: [Int] = []
    var byteCount = 0
    numbers.reserveCapacity(keys.count)
    for (place, key) in keys.enumerated() {
      if let number = numberOfKey[key] {
        numbers.append(number)
      } else {
        numbers.append(numberOfKey.count)
        numberOfKey[key] = numberOfKey.count
        byteCount += sizes.map { Int($0[place]) } ?? 1
      }
    }
    self.numbers = numbers
    keyCount = numberOfKey.count
    self.byteCount = byteCount
  }

  /// Asks everything in order, and counts what `isHit` makes of it.
  func tally(_ isHit: (Access) -> Bool) -> Tally {
    var tally = Tally()
    for place in keys.indices {
      let size = sizes.map { Int($0[place]) } ?? 1
      let access = Access(key: keys[place], number: numbers[place], size: size)
      tally.count(access, isHit: isHit(access))
    }
    return tally
  }
}

/// How many of a trace's accesses were hits, and how many bytes those had.
struct Tally: Equatable {
  private(set) var accesses = 0
  private(set) var hits = 0
  private(set) var bytes = 0
  private(set) var hitBytes = 0

  mutating func count(_ access: Trace.Access, isHit: Bool) {
    accesses += 1
    bytes += access.size
    if isHit {
      hits += 1
      hitBytes += access.size
    }
  }

  /// In percent; zero if nothing was asked.
  var hitRatio: Double {
    accesses == 0 ? 0 : Double(hits) / Double(accesses) * 100
  }

  /// In percent; zero if nothing was asked, or nothing but what has no bytes.
  var byteRatio: Double {
    bytes == 0 ? 0 : Double(hitBytes) / Double(bytes) * 100
  }
}
