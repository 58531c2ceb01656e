import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct DividedDictionaryTests {
  private var dictionary = DividedDictionary<Int, Int>()

  /// The greatest number of keys that one change has to move.
  private var greatest: Int {
    dictionary.tables.map(\.count).max() ?? 0
  }

  @Test mutating func `no table grows with their number, and every key is found`() {
    for key in 0..<100_000 {
      dictionary[key] = -key
      if key.isMultiple(of: 4_096) {
        #expect(greatest <= 2_048)
      }
    }

    #expect(dictionary.count == 100_000 && dictionary.tables.count > 40)
    #expect((0..<100_000).allSatisfy { dictionary[$0] == -$0 })
    #expect(dictionary.tables.map(\.count).reduce(0, +) == 100_000)
    #expect(Set(dictionary.keys) == Set(0..<100_000))
  }

  @Test mutating func `tables are given back with the keys, and every other key is found`() {
    for key in 0..<100_000 { dictionary[key] = key }

    for key in 0..<99_000 { dictionary[key] = nil }

    #expect(dictionary.count == 1_000 && dictionary.tables.count <= 8)
    #expect((0..<99_000).allSatisfy { dictionary[$0] == nil })
    #expect((99_000..<100_000).allSatisfy { dictionary[$0] == $0 })
  }

  @Test(arguments: 0..<5)
  mutating func `it holds what a dictionary holds, whatever is added, changed and removed`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    var expected: [Int: Int] = [:]
    for step in 0..<60_000 {
      // It grows, and then shrinks.
      let isAdded = Int.random(in: 0..<10, using: &random) < (step < 30_000 ? 8 : 1)
      let key = Int.random(in: 0..<20_000, using: &random)
      dictionary[key] = isAdded ? step : nil
      expected[key] = isAdded ? step : nil
    }

    #expect(dictionary.count == expected.count)
    #expect((0..<20_000).allSatisfy { dictionary[$0] == expected[$0] })
  }

  @Test mutating func `a change in place counts once`() {
    dictionary[1] = 1
    dictionary[1]? += 1
    dictionary[2]? += 1
    let removed = exchange(&dictionary[1], with: nil)

    #expect(removed == 2 && dictionary.isEmpty && dictionary[2] == nil)
  }

  @Test(arguments: HashedKeyTests.Hashes.allCases)
  func `no table is larger than others, whichever bits of the hashes differ`(
    hashes: HashedKeyTests.Hashes
  ) {
    var dictionary = DividedDictionary<HashedKeyTests.Key, Int>()
    for number in 0..<10_000 { dictionary[hashes.key(number)] = number }

    #expect(dictionary.tables.count >= 16)
    #expect(dictionary.tables.allSatisfy { $0.count <= 2_048 })
    #expect((0..<10_000).allSatisfy { dictionary[hashes.key($0)] == $0 })
  }

  /// A key that counts how often it is hashed.
  private struct HashedKey: Hashable, Sendable {
    let number: Int
    let hashes: Locked<Int>

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) {
      hashes.withLock { $0 += 1 }
      hasher.combine(number)
    }
  }

  @Test func `no change hashes more keys than a table has, twice for each`() {
    let hashes = Locked(0)
    var dictionary = DividedDictionary<HashedKey, Int>()
    var greatest = 0
    func change(_ number: Int, to value: Int?) {
      let former = hashes.withLock { $0 }
      dictionary[HashedKey(number: number, hashes: hashes)] = value
      greatest = max(greatest, hashes.withLock { $0 } - former)
    }

    for number in 0..<40_000 { change(number, to: number) }
    for number in 0..<40_000 { change(number, to: nil) }

    #expect(dictionary.isEmpty && dictionary.tables.count == 1)
    #expect(greatest <= 2 * 1_280)
  }
}
