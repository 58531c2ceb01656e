import Foundation
import Millpond
import MillpondSignals
import Testing

/// Keys that are objects of Foundation, with a `hash` of their own.
@Suite struct ObjectKeyTests {
  /// A key whose hashes differ in their high bits only.
  final class Key: NSObject, Sendable {
    let number: Int
    let comparisons: Locked<Int>

    init(_ number: Int, _ comparisons: Locked<Int>) {
      self.number = number
      self.comparisons = comparisons
    }

    override var hash: Int { number << 40 }

    override func isEqual(_ object: Any?) -> Bool {
      comparisons.withLock { $0 += 1 }
      return (object as? Key)?.number == number
    }
  }

  @Test func `objects whose hashes differ in high bits are compared once for each set and get`() {
    let comparisons = Locked(0)
    let cache = MemoryCache<Key, Int>(countLimit: 10_000)
    for number in 0..<2_000 { cache.set(number, for: Key(number, comparisons)) }
    #expect(comparisons.withLock { $0 } < 2_020)

    for number in 0..<2_000 { #expect(cache.peek(Key(number, comparisons)) == number) }

    #expect(comparisons.withLock { $0 } < 4_020)
  }

  @Test func `a removal of an object by an equal one leaves the others`() {
    let comparisons = Locked(0)
    let cache = MemoryCache<Key, Int>(countLimit: 10_000)
    for number in 0..<100 { cache.set(number, for: Key(number, comparisons)) }

    cache.remove(Key(7, comparisons))

    #expect(cache.peek(Key(7, comparisons)) == nil && cache.count == 99)
  }
}
