import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct MemoryStoreTests {
  let cache = MemoryCache<Int, Int>(countLimit: 10)

  @Test func `an older write does not replace the fill that came after it`() {
    let (older, later) = (Revision.next(), Revision.next())
    _ = cache.apply(.set(0, 1, later))
    _ = cache.apply(.fill(0, Stamped(2), FillToken()))

    _ = cache.apply(.set(0, 3, older))
    #expect(cache.peek(0) == 2)

    _ = cache.apply(.remove(0, older))
    #expect(cache.peek(0) == 2)
  }

  @Test func `an older write does not replace a later one`() {
    let (older, later) = (Revision.next(), Revision.next())
    _ = cache.apply(.set(0, 1, later))

    _ = cache.apply(.set(0, 2, older))
    _ = cache.apply(.remove(0, older))
    _ = cache.apply(.removeAll(older))

    #expect(cache.peek(0) == 1)
  }

  @Test func `a value that was removed, refused or cleared later does not come back`() {
    let cache = MemoryCache<Int, Int>(costLimit: 10, cost: { $0 })
    let older = (0..<3).map { _ in Revision.next() }
    cache.remove(0)
    cache.set(11, for: 1)
    for key in 0..<2 { _ = cache.apply(.set(key, 1, older[key])) }
    #expect(cache.count == 0)

    cache.removeAll()
    _ = cache.apply(.set(2, 1, older[2]))
    #expect(cache.count == 0)
  }

  @Test(arguments: [Removal<Int, Int>.Cause.evicted, .expired, .pressure])
  func `an earlier write that arrives late does not bring a removed value back`(
    cause: Removal<Int, Int>.Cause
  ) {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(countLimit: 10, timeToLive: .after(.seconds(1)), clock: clock)
    let (older, later) = (Revision.next(), Revision.next())
    let pending = PendingWrite(older)
    let removals = Recorder<Removal<Int, Int>>().subscribe(to: cache.removals)
    _ = cache.apply(.set(0, 1, later))
    switch cause {
    case .evicted: cache.trim(to: 0)
    case .pressure: cache.relieve(.critical)
    default:
      clock.advance(by: .seconds(1))
      cache.removeExpired()
    }

    _ = cache.apply(.set(0, 2, older))
    pending.end()

    #expect(cache.peek(0) == nil && cache.count == 0)
    #expect(removals.values.map(\.value) == [1])
    cache.set(3, for: 0)
    #expect(cache.peek(0) == 3)
  }

  @Test func `a refused fill forgets no removal`() {
    let cache = MemoryCache<Int, Int>(costLimit: 10, cost: { $0 })
    let older = Revision.next()
    let pending = PendingWrite(older)
    cache.remove(0)
    for key in 1...3_000 { cache.remove(key) }

    _ = cache.apply(.fill(0, Stamped(11), FillToken()))
    _ = cache.apply(.set(0, 1, older))
    pending.end()

    #expect(cache.peek(0) == nil)
  }

  @Test(arguments: [true, false])
  func `a set that comes late, after many removals of other keys, is kept`(isFilled: Bool) {
    let cache = MemoryCache<Int, Int>(countLimit: 10)
    if isFilled {
      _ = cache.apply(.fill(0, Stamped(1), FillToken()))
    } else {
      cache.set(1, for: 0)
    }
    let late = Revision.next()
    for key in 1...3_000 { cache.remove(key) }

    _ = cache.apply(.set(0, 2, late))

    #expect(cache.peek(0) == 2)
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `the answer of a reload is stored, and others are evicted for it`() {
    let cache = MemoryCache<Int, Int>(costLimit: 10_000, cost: { _ in 1 })
    let keys = (0..<10_000).filter { MemoryHash($0).shard(15) != 7 }
    let stranger = (0..<10_000).first { MemoryHash($0).shard(15) == 7 } ?? 0
    for key in keys { cache.set(key, for: key) }
    cache.costLimit = cache.totalCost

    _ = cache.apply(.fill(stranger, Stamped(1), FillToken(isReload: true)))

    #expect(cache.peek(stranger) == 1)
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `an older answer that arrives after a reload's is refused`() {
    let (older, reload) = (FillToken(), FillToken(isReload: true))

    _ = cache.apply(.fill(0, Stamped(2), reload))
    _ = cache.apply(.fill(0, Stamped(1), older))
    #expect(cache.peek(0) == 2)

    _ = cache.apply(.fill(0, Stamped(3), reload))
    #expect(cache.peek(0) == 3)
  }

  @Test func `a validator goes with its value`() {
    let validator = Validator(entityTag: "1")
    _ = cache.apply(.fill(0, Stamped(1, validator: validator), FillToken()))
    cache.set(1, for: 1)
    #expect(cache.peekStamped(0)?.validator == validator)

    cache.set(2, for: 0)
    #expect(cache.peekStamped(0)?.validator == nil)

    _ = cache.apply(.fill(1, Stamped(1, validator: validator), FillToken()))
    cache.remove(1)
    cache.set(3, for: 2)
    #expect(cache.peekStamped(2)?.validator == nil)
    #expect(cache.shards.flaw() == nil)
  }
}
