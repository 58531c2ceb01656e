/// The accesses to a cache, in order.
struct Trace {
  /// One access.
  struct Access {
    let key: UInt64

    /// The number of the key, from zero in the order of first accesses.
    let number: Int

    /// The size in bytes; 1 if the trace knows no sizes.
    let size: Int
  }

  let name: String
  let keys: [UInt64]

  /// The size of each access in bytes; nil if the trace knows no sizes.
  let sizes: [UInt32]?

  /// The key of each access.
  let numbers: [Int]

  /// The number of different keys.
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

  /// Performs all accesses in order, and counts the results of `isHit`.
  func hitCounts(_ isHit: (Access) -> Bool) -> HitCounts {
    var hitCounts = HitCounts()
    for place in keys.indices {
      let size = sizes.map { Int($0[place]) } ?? 1
      let access = Access(key: keys[place], number: numbers[place], size: size)
      hitCounts.count(access, isHit: isHit(access))
    }
    return hitCounts
  }
}

/// The numbers of a trace's hits and of their bytes.
struct HitCounts: Equatable {
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

  /// The ratio in percent; zero without accesses.
  var hitRatio: Double {
    accesses == 0 ? 0 : Double(hits) / Double(accesses) * 100
  }

  /// The ratio in percent; zero without accesses, or if none has bytes.
  var byteRatio: Double {
    bytes == 0 ? 0 : Double(hitBytes) / Double(bytes) * 100
  }
}
