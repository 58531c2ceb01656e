import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct LayeredRevalidationTests {
  let scene = RevalidationScene()
  var clock: ManualClock { scene.clock }
  var origin: VersionedOrigin { scene.origin }
  var memory: MemoryCache<String, Int> { scene.memory }

  /// Stores version 1, which is eleven seconds old afterwards.
  private func fill(_ cache: some Source<String, Int>) {
    _ = cache.ask()
    clock.advance(by: .seconds(11))
  }

  @Test func `a value that is too old is asked about, and is new again if it did not change`() {
    fill(scene.cache)
    let gone = Recorder<Removal<String, Int>>().subscribe(to: memory.removals)

    let asked = scene.cache.ask(RevalidationScene.atMostTen)
    clock.advance(by: .seconds(1))
    let again = scene.cache.ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [1] && asked.values.map(\.age) == [.zero])
    #expect(asked.isCompleted)
    #expect(again.values.map(\.age) == [.seconds(1)])
    #expect(origin.asked == [nil, "1"])
    #expect(gone.events.isEmpty)
  }

  @Test func `a value whose own time to live is over is asked about, and gets a new one`() {
    origin.timeToLive = .after(.seconds(5))
    fill(scene.cache)
    origin.timeToLive = .after(.seconds(20))

    let asked = scene.cache.ask()
    clock.advance(by: .seconds(19))
    let fresh = scene.cache.ask()
    clock.advance(by: .seconds(1))
    let later = scene.cache.ask()

    #expect(asked.values.map(\.timeToLive) == [.after(.seconds(20))])
    #expect(fresh.values.map(\.timeToLive) == [.after(.seconds(1))])
    #expect(later.values.map(\.value) == [1])
    #expect(origin.asked == [nil, "1", "1"])
  }

  @Test func `a value beyond the time to live of its cache is asked about too`() {
    let scene = RevalidationScene(timeToLive: .after(.seconds(10)))
    _ = scene.cache.ask()
    scene.clock.advance(by: .seconds(11))

    #expect(scene.cache.ask().values.map(\.age) == [.zero])
    #expect(scene.memory.peek("a") == 1)
    #expect(scene.origin.asked == [nil, "1"])
  }

  @Test func `a value that changed arrives, with its validator`() {
    fill(scene.cache)
    origin.version = 2

    let asked = scene.cache.ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [2])
    #expect(asked.values.map(\.validator?.entityTag) == ["2"])
    #expect(memory.peek("a") == 2)
  }

  @Test(arguments: [nil, Validator()])
  func `a value without a validator is fetched anew`(validator: Validator?) {
    _ = memory.apply(.set("a", Stamped(7, age: .seconds(11), validator: validator), .next()))

    #expect(scene.cache.ask(RevalidationScene.atMostTen).values.map(\.value) == [1])
    #expect(origin.asked == [nil])
  }

  @Test func `a reload asks about a value of any age, and a get for stored values asks nothing`() {
    _ = scene.cache.ask()

    let reloaded = scene.cache.ask(Lookup(freshness: .reload))
    _ = scene.cache.ask(Lookup(freshness: .cachedOnly))

    #expect(reloaded.values.map(\.value) == [1] && reloaded.values.map(\.age) == [.zero])
    #expect(origin.asked == [nil, "1"])
  }

  @Test func `after a confirmed reload the answers to older gets are refused`() {
    _ = scene.cache.ask()
    let older = FillToken()

    _ = scene.cache.ask(Lookup(freshness: .reload))
    _ = memory.apply(.fill("a", Stamped(7), older))

    #expect(memory.peek("a") == 1)
  }

  @Test func `a reload of a value without a validator, or after its removal, fetches`() {
    memory.set(7, for: "a")
    _ = scene.cache.ask(Lookup(freshness: .reload))
    memory.remove("a")
    _ = scene.cache.ask(Lookup(freshness: .reload))

    #expect(origin.asked == [nil, nil])
  }

  @Test func `a fresh value is not asked about`() {
    fill(scene.cache)

    _ = scene.cache.ask()

    #expect(origin.asked == [nil])
  }

  @Test func `a value whose new time to live is over at once stays to be asked about`() {
    origin.timeToLive = .after(.seconds(5))
    fill(scene.cache)
    origin.timeToLive = .after(.zero)

    #expect(scene.cache.ask().values.map(\.value) == [1])
    #expect(scene.cache.ask().values.map(\.value) == [1])
    #expect(origin.asked == [nil, "1", "1"])
  }

  // MARK: Writes and leaving

  @Test func `a set during the question wins`() {
    fill(scene.cache)
    origin.hold()
    let asked = scene.cache.ask(RevalidationScene.atMostTen)

    memory.set(5, for: "a")
    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(memory.peek("a") == 5)
  }

  @Test(arguments: [true, false])
  func `a value that was removed during the question does not come back`(all: Bool) {
    fill(scene.cache)
    origin.hold()
    let asked = scene.cache.ask(RevalidationScene.atMostTen)

    _ = all ? memory.removeAll() : memory.remove("a")
    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(memory.count == 0)
  }

  @Test func `a value that another get replaced meanwhile stays`() {
    fill(scene.cache)
    origin.hold()
    let asked = scene.cache.ask(RevalidationScene.atMostTen)
    let newer = Stamped(2, validator: Validator(entityTag: "2"))
    _ = memory.apply(.fill("a", newer, FillToken()))

    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(memory.peek("a") == 2)
  }

  @Test func `a question that is left changes nothing`() {
    fill(scene.cache)
    origin.hold()
    let asked = scene.cache.ask(RevalidationScene.atMostTen)

    asked.dispose()
    origin.answer()

    #expect(asked.events.isEmpty)
    #expect(memory.peekStamped("a")?.age == .seconds(11))
  }

  @Test func `a failure leaves the stored value, which is asked about again`() {
    fill(scene.cache)
    origin.hold()
    let asked = scene.cache.ask(RevalidationScene.atMostTen)
    origin.answers.failed(Refused())

    #expect(asked.failure is Refused)
    #expect(memory.peek("a") == 1)
    _ = scene.cache.ask(RevalidationScene.atMostTen)
    #expect(origin.asked == [nil, "1", "1"])
  }

  @Test func `an origin that confirms without a question is a miss`() {
    let liar = FunctionSource<String, Int>.validating(signal: { _, _ in .just(.notModified()) })

    #expect(memory.layered(over: liar).ask().transcript == ["completed"])
  }

  // MARK: Reports

  @Test func `a report says that the value was not modified`() {
    fill(scene.cache)
    let cache = memory.named("memory").layered(over: origin.source.named("network"))
    let recorder = Recorder<Found<Int>>()

    recorder.subscribe(
      to: cache.lookUp("a", freshness: .atMost(.seconds(10)), clock: scene.clock))

    #expect(
      recorder.values.last?.provenance.description
        == "memory: too old (11 s) 0 ns; network: not modified 0 ns")
    #expect(recorder.values.last?.provenance.origin == "network")
  }

  @Test func `a monitor counts it as neither a hit nor a miss`() {
    fill(scene.cache)
    let monitor = CacheMonitor(clock: clock)
    let cache = memory.named("memory").layered(over: origin.source.named("network"))
      .monitored(by: monitor)

    _ = cache.ask(RevalidationScene.atMostTen)

    let counts = monitor.statistics["network"]
    #expect(counts?.revalidations == 1 && counts?.hits == 0 && counts?.misses == 0)
    #expect(monitor.statistics["memory"]?.tooOld == 1)
  }
}
