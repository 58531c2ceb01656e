import MillpondSignals
import Testing

@testable import MillpondCore

/// Keys whose types state a hash of their own are found as quickly as others.
@Suite struct HashedKeyTests {
  /// A key with a hash of its own, as an identity or an `NSObject` may have.
  struct Key: Hashable, Sendable {
    let number: Int
    let stated: Int

    var hashValue: Int { stated }

    func hash(into hasher: inout Hasher) {
      hasher.combine(stated)
    }
  }

  enum Hashes: CaseIterable {
    case small, negative, multiples, middleBits, highBits, highestBits, swapped, addresses

    func hash(of number: Int) -> Int {
      switch self {
      case .small: number
      case .negative: -number
      case .multiples: number &* 4_096
      case .middleBits: number << 20
      case .highBits: number << 32
      case .highestBits: number << 47
      case .swapped: number.byteSwapped
      case .addresses: 0x7f3a_0000_1000 &+ number &* 48
      }
    }

    func key(_ number: Int) -> Key {
      Key(number: number, stated: hash(of: number))
    }
  }

  @Test("few buckets are looked at, whichever bits differ", arguments: Hashes.allCases)
  func buckets(_ hashes: Hashes) {
    var index = SlotIndex()
    let count = 4_000
    for number in 0..<count {
      let hash = UInt32(truncatingIfNeeded: hashes.key(number).mixedHash)
      index.insert(hash, Slot(number))
    }
    let bucketCount = index.buckets.count
    let steps = (0..<bucketCount).reduce(0) { steps, bucket in
      let word = index.places[bucket]
      if word == 0 { return steps }
      let home = SlotIndex.home(of: UInt32(truncatingIfNeeded: word >> 32), bucketCount)
      return steps + (bucket >= home ? bucket - home : bucket - home + bucketCount)
    }
    #expect(steps < 2 * count)
  }

  @Test("every shard has its share, whichever bits differ", arguments: Hashes.allCases)
  func shards(_ hashes: Hashes) {
    var shares = [Int](repeating: 0, count: 16)
    for number in 0..<16_000 { shares[MemoryHash(hashes.key(number)).shard(15)] += 1 }
    #expect(shares.allSatisfy { (500...2_000).contains($0) })
  }

  @Test("what is set is kept, whichever bits differ", arguments: Hashes.allCases)
  func kept(_ hashes: Hashes) {
    let cache = MemoryCache<Key, Int>(countLimit: 10_000)
    for number in 0..<5_000 { cache.set(number, for: hashes.key(number)) }
    #expect((0..<5_000).allSatisfy { cache.peek(hashes.key($0)) == $0 })
  }

  @Test("a thousand keys of one hash are kept")
  func equal() {
    let cache = MemoryCache<Key, Int>(countLimit: 10_000)
    for number in 0..<1_000 { cache.set(number, for: Key(number: number, stated: 1)) }
    #expect((0..<1_000).allSatisfy { cache.peek(Key(number: $0, stated: 1)) == $0 })
  }

  /// A key whose comparisons are counted, as if they were slow.
  struct SlowKey: Hashable, Sendable {
    let number: Int
    let stated: Int
    let comparisons: Locked<Int>

    var hashValue: Int { stated }

    static func == (one: SlowKey, other: SlowKey) -> Bool {
      one.comparisons.withLock { $0 += 1 }
      return one.number == other.number
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(stated)
    }
  }

  @Test("a set and a get compare a key with itself only", arguments: Hashes.allCases)
  func comparisons(_ hashes: Hashes) {
    let comparisons = Locked(0)
    let keys = (0..<2_000).map {
      SlowKey(number: $0, stated: hashes.hash(of: $0), comparisons: comparisons)
    }
    let cache = MemoryCache<SlowKey, Int>(countLimit: 10_000)
    for key in keys { cache.set(0, for: key) }
    // Once each, besides those whose hashes are equal in the 32 bits that are compared first.
    #expect(comparisons.withLock { $0 } < 2_020)

    for key in keys { _ = cache.peek(key) }

    #expect(comparisons.withLock { $0 } < 4_020)
  }

  @Test("keys of one hash are compared no more than twice as often as in a dictionary")
  func equalComparisons() {
    let (ours, others) = (Locked(0), Locked(0))
    let cache = MemoryCache<SlowKey, Int>(countLimit: 10_000)
    var dictionary: [SlowKey: Int] = [:]
    for number in 0..<500 {
      cache.set(number, for: SlowKey(number: number, stated: 1, comparisons: ours))
      dictionary[SlowKey(number: number, stated: 1, comparisons: others)] = number
    }

    #expect(dictionary.count == 500 && cache.count == 500)
    #expect(ours.withLock { $0 } <= 2 * others.withLock { $0 })
  }
}
