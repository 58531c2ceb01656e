import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Writes, which win over every get under way.
@Suite struct WriteDuringGetTests {
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 10)
  let other = MemoryCache<String, Int>(countLimit: 10)
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test func `a set during a get wins over the value of the get`() {
    let cache = memory.layered(over: origin).reusingInFlight()
    early.subscribe(to: cache.get("a"))

    cache.set(2, for: "a")
    origin["a"].next(1)
    origin["a"].completed()

    #expect(early.values == [1])
    late.subscribe(to: cache.get("a"))
    #expect(late.values == [2])
  }

  @Test func `a get does not undo a removal that came during it`() {
    let cache = memory.layered(over: origin).reusingInFlight()
    early.subscribe(to: cache.get("a"))

    cache.remove("a")
    origin["a"].next(1)
    origin["a"].completed()

    #expect(early.values == [1])
    #expect(memory.count == 0)
  }

  @Test func `a get does not undo, in any layer, a removal of everything that came during it`() {
    let cache = memory.layered(over: other.layered(over: origin)).reusingInFlight()
    early.subscribe(to: cache.get("a"))

    cache.removeAll()
    origin["a"].next(1)
    origin["a"].completed()

    #expect(early.values == [1])
    #expect(memory.count == 0 && other.count == 0)
  }

  @Test func `a get after a write does not join the older flight`() {
    let cache = memory.layered(over: origin).reusingInFlight()
    early.subscribe(to: cache.get("a"))

    cache.remove("a")
    late.subscribe(to: cache.get("a"))

    #expect(origin["a"].subscriptions == 2)
    origin["a"].runs[1].next(2)
    origin["a"].runs[1].completed()
    origin["a"].runs[0].next(1)
    origin["a"].runs[0].completed()
    #expect(early.values == [1] && late.values == [2])
    #expect(memory.now("a", Lookup()) == 2)
  }

  @Test func `a write of another key does not touch a flight`() {
    let cache = memory.layered(over: origin).reusingInFlight()
    early.subscribe(to: cache.get("a"))

    cache.set(5, for: "b")
    late.subscribe(to: cache.get("a"))

    #expect(origin["a"].subscriptions == 1)
  }

  @Test func `an older write does not undo a newer one`() {
    let (first, second) = (Revision.next(), Revision.next())

    _ = memory.apply(.set("a", 2, second))
    _ = memory.apply(.set("a", 1, first))
    #expect(memory.now("a", Lookup()) == 2)

    _ = memory.apply(.remove("a", first))
    _ = memory.apply(.removeAll(first))
    #expect(memory.now("a", Lookup()) == 2)
  }

  @Test func `an older set does not come back after a removal`() {
    let (first, second) = (Revision.next(), Revision.next())

    _ = memory.apply(.removeAll(second))
    _ = memory.apply(.set("a", 1, first))

    #expect(memory.count == 0)
  }

  @Test func `a fill whose token was taken before a write is refused by every combinator`() {
    let compositions: [AnyCache<String, Int>] = [
      AnyCache(memory), AnyCache(memory.reusingInFlight()), AnyCache(memory.mapKeys { $0 }),
      AnyCache(memory.mapValues(.identity)), AnyCache(memory.limited(to: 1)),
      AnyCache(memory.layered(over: other)), AnyCache(other.layered(over: memory)),
      AnyCache(memory.mapValues(byKey: { _ in .identity })),
      AnyCache(memory.filtered { _, _ in true }), AnyCache(memory.conditioned { _ in true }),
      AnyCache(memory.postProcessed { $1 }), AnyCache(memory.delivered(on: .global())),
      AnyCache(memory.switched(to: other) { _ in false }),
      AnyCache(memory.retrying(.immediate(attempts: 2))),
      AnyCache(memory.timingOut(after: .seconds(1))), AnyCache(memory.recovering(with: other)),
      AnyCache(memory.hedged(with: other, after: .seconds(1))),
      AnyCache(memory.rateLimited(to: 1, per: .seconds(1))),
      AnyCache(memory.named("memory")),
    ]
    for cache in compositions {
      let mark = FillToken()
      cache.remove("a")
      _ = cache.apply(.fill("a", Stamped(1), mark))
      #expect(memory.count == 0 && other.count == 0)
    }
  }
}
