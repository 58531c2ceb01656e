import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Origins that keep working after cancellation, and answer after a newer answer.
@Suite struct LateFillTests {
  let origin = DeafOrigin()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  enum Composition: CaseIterable {
    case layered, shared, sharedBelow, replayed, remembered, closures, double, threeLayers
  }

  /// Returns a composition over the origin, and its uppermost store.
  private func make(
    _ composition: Composition
  ) -> (AnyCache<String, Int>, kept: @Sendable () -> Int?) {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let double = TestCache<String, Int>()
    let kept = { @Sendable in memory.peek("a") }
    switch composition {
    case .layered: return (AnyCache(memory.layered(over: origin)), kept)
    case .shared: return (AnyCache(memory.layered(over: origin).reusingInFlight()), kept)
    case .sharedBelow: return (AnyCache(memory.layered(over: origin.reusingInFlight())), kept)
    case .replayed: return (AnyCache(origin.replayed(in: memory)), kept)
    case .remembered: return (AnyCache(origin.remembered(in: memory, FreshnessPolicy())), kept)
    case .closures:
      let closures = AnyCache<String, Int>(
        get: { double.get($0) }, set: { double.set($0, for: $1) }, remove: { double.remove($0) },
        removeAll: { double.removeAll() })
      return (AnyCache(closures.layered(over: origin).reusingInFlight()), { double.contents["a"] })
    case .double:
      return (AnyCache(double.layered(over: origin).reusingInFlight()), { double.contents["a"] })
    case .threeLayers:
      let cache = memory.layered(over: double).layered(over: origin).reusingInFlight()
      return (AnyCache(cache), { memory.peek("a") ?? double.contents["a"] })
    }
  }

  @Test(arguments: Composition.allCases)
  func `the answer to a get that was given up does not overwrite a newer one`(
    composition: Composition
  ) {
    let (cache, kept) = make(composition)
    early.subscribe(to: cache.get("a"))
    early.dispose()
    late.subscribe(to: cache.get("a"))
    origin.answer(1, with: 2)
    #expect(late.values == [2] && kept() == 2)

    origin.answer(0, with: 1)

    #expect(kept() == 2)
    #expect(early.values == [])
  }

  @Test(arguments: Composition.allCases)
  func `the answer to a get that was given up is not stored`(composition: Composition) {
    let (cache, kept) = make(composition)
    early.subscribe(to: cache.get("a"))
    early.dispose()

    origin.answer(0, with: 1)

    #expect(kept() == nil)
  }

  @Test func `a reload that a removal has refused takes no newer answer along`() {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    // So that it keeps an order of writes.
    _ = memory.set(0, for: "b")
    let reload = FillToken(isReload: true)
    _ = memory.removeAll { $0 == "a" }
    _ = memory.apply(.fill("a", Stamped(2), FillToken()))

    _ = memory.apply(.fill("a", Stamped(1), reload))

    #expect(memory.peek("a") == 2)
  }

  @Test func `reloads that are answered in another order leave no older value of any key`() {
    let memory = MemoryCache<Int, Int>(countLimit: 10_000)
    let origin = TestOrigin<Int, Int>()
    let cache = memory.layered(over: origin)
    for key in 0..<1_000 { _ = memory.apply(.fill(key, Stamped(1), FillToken())) }
    for key in 0..<1_000 { cache.get(key, freshness: .reload).subscribe() }

    for key in (0..<1_000).reversed() {
      origin[key].next(2)
      origin[key].completed()
    }

    #expect((0..<1_000).allSatisfy { memory.peek($0) == 2 })
  }

  @Test func `an older reload that is answered last leaves the newer one's value`() {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let cache = memory.layered(over: origin)
    early.subscribe(to: cache.get("a", freshness: .reload))
    late.subscribe(to: cache.get("a", freshness: .reload))

    origin.answer(1, with: 2)
    origin.answer(0, with: 1)

    #expect(memory.peek("a") == 2)
  }

  @Test(arguments: Composition.allCases)
  func `a caller that leaves keeps nothing from being stored for those that stay`(
    composition: Composition
  ) {
    let (cache, kept) = make(composition)
    early.subscribe(to: cache.get("a"))
    late.subscribe(to: cache.get("a"))
    early.dispose()

    origin.answerAll(with: 1)

    #expect(late.values == [1] && kept() == 1)
  }

  @Test(arguments: Composition.allCases)
  func `several answers to one get are stored, the last one in the end`(composition: Composition) {
    let (cache, kept) = make(composition)
    early.subscribe(to: cache.get("a"))

    origin.send(0, 1)
    #expect(kept() == 1)
    origin.answer(0, with: 2)

    #expect(kept() == 2)
  }
}

/// An origin that ignores cancellation.
final class DeafOrigin: Source {
  private let observers = Locked<[Observer<Int>]>([])

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    Signal { observer, _ in self.observers.withLock { $0.append(observer) } }
  }

  /// Sends a value to the get with this number.
  func send(_ number: Int, _ value: Int) {
    observers.withLock { $0[number] }.next(value)
  }

  func answer(_ number: Int, with value: Int) {
    send(number, value)
    observers.withLock { $0[number] }.completed()
  }

  func answerAll(with value: Int) {
    for number in observers.withLock({ $0.indices }) { answer(number, with: value) }
  }
}
