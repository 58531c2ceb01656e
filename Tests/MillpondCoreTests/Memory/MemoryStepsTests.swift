import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@testable import MillpondCore

/// Large releases in steps: the values of one step are released, as users see by their deinits,
/// before the next one begins.
@Suite struct MemoryStepsTests {
  /// A value that runs something at its end.
  final class Mortal: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void = {}) {
      self.end = end
    }

    deinit {
      end()
    }
  }

  enum Bulk: CaseIterable {
    case removeAll, trim, relieve, limit, expiry

    func run(_ cache: MemoryCache<Int, Mortal>, _ clock: ManualClock) {
      switch self {
      case .removeAll: cache.removeAll()
      case .trim: cache.trim(to: 0)
      case .relieve: cache.relieve(.critical)
      case .limit: cache.countLimit = 0
      case .expiry:
        clock.advance(by: .seconds(1))
        cache.removeExpired()
      }
    }
  }

  let clock = ManualClock()
  let cache: MemoryCache<Int, Mortal>
  let stepSize = MemoryShards<Int, Mortal>.stepSize

  init() {
    cache = MemoryCache(countLimit: 100_000, timeToLive: .after(.seconds(1)), clock: clock)
  }

  /// Fills the cache; the first value that is released runs `body`.
  private func fill(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    let isFirst = Locked(true)
    for key in 0..<count {
      cache.set(
        Mortal {
          let runs = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if runs { body() }
        }, for: key)
    }
  }

  @Test(arguments: Bulk.allCases)
  func `no more goes at a time than a step`(_ bulk: Bulk) {
    #expect(stepSize <= 256)
    for count in [1_000, 10_000] {
      let left = Locked<Int?>(nil)
      fill(count) { [cache] in left.withLock { $0 = cache.count } }

      bulk.run(cache, clock)

      // With several stores, one round of lowering a limit is a step of each.
      #expect((left.withLock { $0 } ?? 0) >= count - (stepSize + 1) * (bulk == .limit ? 16 : 1))
      #expect(cache.count == 0 && cache.shards.flaw() == nil)
      cache.countLimit = 100_000
    }
  }

  @Test func `values written and filled between the steps of a removal stay`() {
    fill(1_000) { [cache] in
      for key in 2_000..<2_300 { cache.set(Mortal(), for: key) }
      for key in 3_000..<3_900 {
        let token = FillToken()
        _ = cache.apply(.fill(key, Stamped(Mortal()), token))
      }
    }

    cache.removeAll()

    #expect((0..<1_000).allSatisfy { cache.peek($0) == nil })
    #expect((2_000..<2_300).allSatisfy { cache.peek($0) != nil })
    // Others of its stripe were written, so it may have been refused.
    #expect((3_000..<3_900).filter { cache.peek($0) != nil }.count > 600)
  }

  @Test(arguments: [Bulk.removeAll, .trim, .expiry])
  func `a store that is divided between the steps keeps nothing of before`(_ bulk: Bulk) {
    fill(4_000) { [cache] in
      for key in 5_000..<10_000 { cache.set(Mortal(), for: key) }
    }

    bulk.run(cache, clock)

    #expect(cache.shards.mask.load(ordering: .relaxed) != 0)
    #expect(bulk == .trim || (0..<4_000).allSatisfy { cache.peek($0) == nil })
    #expect(bulk == .trim || (5_000..<10_000).allSatisfy { cache.peek($0) != nil })
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `a removal that a later one has overtaken returns when all is gone`() {
    let older = Locked(Revision.none)
    let left = Locked(-1)
    fill(1_000) { [cache] in
      _ = cache.apply(.removeAll(older.withLock { $0 }))
      left.withLock { $0 = (0..<1_000).filter { cache.peek($0) != nil }.count }
    }
    older.withLock { $0 = .next() }

    cache.removeAll()

    #expect(left.withLock { $0 } == 0)
  }

  @Test func `a cache of some size that is emptied gives its memory back`() {
    fill(20_000) {}
    #expect(capacity > 20_000)

    cache.removeAll()

    #expect(capacity == 0)
    cache.set(Mortal(), for: 1)
    #expect(cache.peek(1) != nil && cache.shards.flaw() == nil)
  }

  @Test func `a removal between the steps of another lets no entry escape that`() {
    fill(4_000) { [cache] in
      for key in 1_000..<3_900 { cache.remove(key) }
    }

    cache.removeAll()

    #expect((0..<4_000).allSatisfy { cache.peek($0) == nil })
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `a cache that is left with a part gives back what that does not need`() {
    fill(100_000) {}
    let former = capacity

    cache.trim(to: 0.05)

    #expect((4_900...5_000).contains(cache.count) && cache.shards.flaw() == nil)
    #expect(capacity < former / 2)
  }

  private var capacity: Int {
    var capacity = 0
    cache.shards.forEach { store in
      capacity += store.slab.capacity + store.order.states.capacity
      return true
    }
    return capacity
  }
}
