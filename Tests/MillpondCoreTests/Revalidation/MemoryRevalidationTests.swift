import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Expired values that an origin can confirm, in memory.
@Suite struct MemoryRevalidationTests {
  let clock = ManualClock()

  private func put(
    _ key: String, in memory: MemoryCache<String, Int>, validator: String? = "1",
    timeToLive: TimeToLive? = .after(.seconds(5))
  ) {
    let stamped = Stamped(
      1, validator: validator.map { Validator(entityTag: $0) }, timeToLive: timeToLive)
    _ = memory.apply(.fill(key, stamped, FillToken()))
  }

  @Test func `an expired value with a validator is a miss that stays`() {
    let memory = MemoryCache<String, Int>(countLimit: 100, clock: clock)
    put("a", in: memory)
    put("b", in: memory, validator: nil)
    clock.advance(by: .seconds(6))

    #expect(memory.ask().transcript == ["completed"])
    #expect(memory.now("a", Lookup()) == nil && memory.peek("a") == nil)
    #expect(memory.snapshot().isEmpty)
    for number in 0..<50 { memory.set(number, for: "\(number)") }

    #expect(memory.confirmable("a") != nil)
    #expect(memory.confirmable("b") == nil)
    #expect(memory.count == 51)
  }

  @Test func `a removed, evicted or expired value is not offered for validation`() {
    let memory = MemoryCache<String, Int>(
      countLimit: 2, policy: .leastRecentlyUsed, clock: clock)
    put("a", in: memory)
    put("b", in: memory)
    memory.remove("a")
    #expect(memory.confirmable("a") == nil)

    clock.advance(by: .seconds(6))
    memory.removeExpired()
    #expect(memory.confirmable("b") == nil && memory.count == 0)

    put("c", in: memory)
    for key in ["d", "e"] { memory.set(2, for: key) }
    #expect(memory.confirmable("c") == nil)
  }

  @Test func `a value that expired for want of use is not asked about`() {
    let memory = MemoryCache<String, Int>(
      countLimit: 2, timeToIdle: .after(.seconds(3)), clock: clock)
    put("a", in: memory, timeToLive: nil)
    clock.advance(by: .seconds(4))

    #expect(memory.confirmable("a") == nil)
    #expect(memory.ask().transcript == ["completed"])
    #expect(memory.count == 0)
  }

  @Test func `a renewal keeps the value, its order among writes and its cost`() {
    let memory = MemoryCache<String, Int>(costLimit: 100, clock: clock) { $0 }
    let written = Revision.next()
    let stamped = Stamped(30, age: .seconds(9), validator: Validator(entityTag: "1"))
    _ = memory.apply(.set("a", stamped, written))
    let gone = Recorder<Removal<String, Int>>().subscribe(to: memory.removals)

    let renewed = Stamped(30, validator: Validator(entityTag: "1"))
    let outcome = memory.apply(.fill("a", renewed, FillToken().ofRenewal()))

    #expect(Recorder<Void>().subscribe(to: outcome).values.count == 1)
    #expect(memory.peekStamped("a")?.age == .zero)
    #expect(memory.totalCost == 30 && gone.events.isEmpty)
    memory.apply(.remove("a", written)).subscribe()
    #expect(memory.peek("a") == nil)
  }

  @Test func `a renewal from before a write is refused`() {
    let memory = MemoryCache<String, Int>(countLimit: 1, clock: clock)
    let early = Revision.next()
    let token = FillToken()
    memory.set(2, for: "a")
    let late = FillToken()
    let renewed = Stamped(1, validator: Validator(entityTag: "1"))

    _ = memory.apply(.fill("a", renewed, token.ofRenewal()))
    _ = memory.apply(.fill("a", renewed, late.ofRenewal(since: early)))

    #expect(memory.peek("a") == 2)
  }

  @Test func `a reload whose renewal is refused refuses no older get`() {
    let memory = MemoryCache<String, Int>(countLimit: 1, clock: clock)
    let (older, reload) = (FillToken(), FillToken(isReload: true))
    _ = memory.apply(
      .fill("a", Stamped(1, validator: Validator(entityTag: "1")), FillToken()))

    let former = Stamped(0, validator: Validator(entityTag: "0"))
    _ = memory.apply(.fill("a", former, reload.ofRenewal()))
    _ = memory.apply(.fill("a", Stamped(2), older))

    #expect(memory.peek("a") == 2)
  }
}
