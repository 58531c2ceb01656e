import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Writes that take their time before they arrive, while others overtake them.
@Suite(.timeLimit(.minutes(1))) struct LateWriteTests {
  let source = TestSource<Void>()
  let double = TestCache<Int, String>()

  private var closures: AnyCache<Int, String> {
    AnyCache(
      get: { double.get($0) }, set: { double.set($0, for: $1) }, remove: { double.remove($0) },
      removeAll: { double.removeAll() })
  }

  private func encodingSlowly(_ cache: AnyCache<Int, String>) -> AnyCache<Int, String> {
    let signal = source.signal
    return AnyCache(
      cache.mapValues(
        .asynchronous(
          encode: { (text: String) in
            if text == "slow" { _ = try await signal.value }
            return text
          }, decode: { $0 })))
  }

  enum Store: CaseIterable {
    case memory, small, closures, double
  }

  private func make(_ store: Store) -> AnyCache<Int, String> {
    switch store {
    case .memory: AnyCache(MemoryCache<Int, String>(countLimit: 100_000))
    case .small: AnyCache(MemoryCache<Int, String>(countLimit: 5, policy: .leastRecentlyUsed))
    case .closures: closures
    case .double: AnyCache(double)
    }
  }

  @Test(arguments: Store.allCases)
  func `a set that takes long is there, however many other keys are written meanwhile`(
    store: Store
  ) async throws {
    let base = make(store)
    let cache = encodingSlowly(base)
    let outcome = Recorder<Void>().subscribe(to: cache.set("slow", for: -1))
    try await source.subscriptions(count: 1)
    for key in 0..<2_500 {
      base.set("x", for: key)
      if key % 2 == 1 { base.remove(key) }
    }

    source.next(())
    try await outcome.ended()

    #expect(try await base.get(-1).valueIfAny == "slow")
  }

  @Test(arguments: Store.allCases, [true, false])
  func `a set that takes long never wins over a later one of its key`(
    store: Store, isRemoved: Bool
  ) async throws {
    let base = make(store)
    let cache = encodingSlowly(base)
    let outcome = Recorder<Void>().subscribe(to: cache.set("slow", for: -1))
    try await source.subscriptions(count: 1)
    if isRemoved { base.remove(-1) } else { base.set("later", for: -1) }
    for key in 0..<2_500 {
      base.set("x", for: key)
      if key % 2 == 1 { base.remove(key) }
    }

    source.next(())
    try await outcome.ended()

    let found = try await base.get(-1).valueIfAny
    #expect(found != "slow")
    if !isRemoved, store != .small { #expect(found == "later") }
  }

  @Test(arguments: [Freshness.reload, .atMost(.zero)])
  func `a value fetched while a set is encoded is kept in all layers`(freshness: Freshness)
    async throws
  {
    let clock = ManualClock()
    let memory = MemoryCache<Int, String>(countLimit: 10, clock: clock)
    let origin = TestOrigin<Int, String>()
    let (double, stored) = (double, Promise<Void>())
    let store = AnyCache<Int, String>(
      get: { double.get($0) },
      set: { value, key in
        let outcome = double.set(value, for: key)
        if value == "new" { stored.keep(by: .just(())) }
        return outcome
      }, remove: { double.remove($0) }, removeAll: { double.removeAll() })
    let cache = origin.remembered(
      in: memory.layered(over: encodingSlowly(store)), FreshnessPolicy())
    let set = Recorder<Void>().subscribe(to: cache.set("slow", for: 1))
    try await source.subscriptions(count: 1)
    // The written value is old enough to be fetched anew.
    clock.advance(by: .seconds(1))
    let get = Recorder<String>().subscribe(to: cache.get(1, freshness: freshness))
    #expect(origin[1].subscriptions == 0)

    source.next(())
    try await set.ended()
    try await origin[1].subscriptions(count: 1)
    origin[1].next("new")
    origin[1].completed()
    try await stored.outcome.value

    #expect(get.values == ["new"])
    #expect(memory.peek(1) == "new" && double.contents[1] == "new")
  }

  @Test func `a codec that fetches what it encodes anew is not waited for`() async throws {
    let origin = TestOrigin<Int, String>()
    let held = Locked<(@Sendable () async throws -> String?)?>(nil)
    let codec = Codec<String, String>.asynchronous(
      encode: { text in
        guard text == "slow" else { return text }
        return try await held.withLock { $0 }?() ?? text
      }, decode: { $0 })
    let cache = origin.remembered(in: double.mapValues(codec), FreshnessPolicy())
    held.withLock { $0 = { try await cache.get(1, freshness: .reload).valueIfAny } }

    let set = Recorder<Void>().subscribe(to: cache.set("slow", for: 1))
    try await origin[1].subscriptions(count: 1)
    origin[1].next("new")
    origin[1].completed()

    try await set.ended()
    #expect(double.contents[1] == "new")
  }

  @Test func `a slow cost does not lose the set, and does not let it win over a stored later one`()
  {
    let work = Locked<@Sendable () -> Void>({})
    let cache = MemoryCache<Int, String>(costLimit: 10) { value in
      if value == "slow" { work.withLock { $0 }() }
      return 1
    }
    work.withLock {
      $0 = { for key in 0..<2_500 { cache.set("x", for: key) } }
    }
    cache.set("slow", for: -1)
    #expect(cache.peek(-1) == "slow")

    work.withLock {
      $0 = { cache.set("later", for: -2) }
    }
    cache.set("slow", for: -2)
    #expect(cache.peek(-2) == "later")
  }

  @Test(arguments: Store.allCases)
  func `an older set that arrives late, over a fill of a later one, is refused`(store: Store) {
    let cache = make(store)
    let (older, later) = (Revision.next(), Revision.next())
    _ = cache.apply(.set(1, "later", later))
    _ = cache.apply(.fill(1, Stamped("fill"), FillToken()))

    _ = cache.apply(.set(1, "older", older))
    _ = cache.apply(.remove(1, older))

    #expect(Recorder<String>().subscribe(to: cache.get(1)).values == ["fill"])
  }

  @Test(arguments: Store.allCases)
  func `a fill says whether it is kept, and a write that was overtaken succeeds`(store: Store) {
    let cache = make(store)
    let (token, older) = (FillToken(), Revision.next())
    let fill = Recorder<Void>().subscribe(to: cache.apply(.fill(1, Stamped("fill"), token)))
    cache.set("later", for: 1)

    let late = Recorder<Void>().subscribe(to: cache.apply(.fill(1, Stamped("fill"), token)))
    let overtaken = Recorder<Void>().subscribe(to: cache.apply(.set(1, "older", older)))

    #expect(fill.values.count == 1 && fill.isCompleted)
    #expect(late.values.isEmpty && late.isCompleted)
    #expect(overtaken.values.count == 1 && overtaken.isCompleted)
  }

  @Test func `a fill through two layers says whether one of them keeps it`() {
    let memory = MemoryCache<Int, String>(countLimit: 10)
    let nothing = MemoryCache<Int, String>(countLimit: 0)
    let token = FillToken()
    func fill(_ cache: some Cache<Int, String>) -> Recorder<Void> {
      Recorder().subscribe(to: cache.apply(.fill(1, Stamped("fill"), token)))
    }

    for recorder in [
      fill(memory.layered(over: nothing)), fill(nothing.layered(over: memory)),
      fill(memory.layered(over: double)),
    ] {
      #expect(recorder.values.count == 1 && recorder.isCompleted)
    }
    for recorder in [fill(nothing.layered(over: nothing)), fill(EmptyCache<Int, String>())] {
      #expect(recorder.values.isEmpty && recorder.isCompleted)
    }
  }

  @Test func `keys that are forgotten may call the cache at their end`() {
    let cache = MemoryCache<TalkativeKey, Int>(countLimit: 5, policy: .leastRecentlyUsed)
    let calls = Locked(0)
    for number in 0..<5_000 {
      let key = TalkativeKey(number) { [weak cache] in
        calls.withLock { $0 += 1 }
        _ = cache?.peek(TalkativeKey(-1) {})
      }
      cache.set(number, for: key)
      cache.remove(key)
    }
    cache.removeAll()

    #expect(calls.withLock { $0 } == 5_000)
  }
}

/// A key that calls out when it is released.
final class TalkativeKey: Hashable, Sendable {
  private let number: Int
  private let atEnd: @Sendable () -> Void

  init(_ number: Int, _ atEnd: @escaping @Sendable () -> Void) {
    self.number = number
    self.atEnd = atEnd
  }

  deinit {
    atEnd()
  }

  static func == (left: TalkativeKey, right: TalkativeKey) -> Bool {
    left.number == right.number
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(number)
  }
}
