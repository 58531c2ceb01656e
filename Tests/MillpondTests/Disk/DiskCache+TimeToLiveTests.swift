import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// The time to live of a single value on disk.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheTimeToLiveTests {
  let scene = DiskScene()
  let now = Locked(WallTime(microseconds: 1_000_000_000_000))

  private func open(_ timeToLive: TimeToLive = .forever) -> DiskCache {
    scene.open(.mebibytes(8), POSIXCalls()) { [now] in
      $0.timeToLive = timeToLive
      $0.now = { now.withLock { $0 } }
    }
  }

  private func leave(_ cache: DiskCache) async throws {
    try await cache.flush().value
    try await cache.close().value
  }

  private func pass(_ seconds: Int64) {
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + seconds * 1_000_000) }
  }

  private func rest(_ cache: some Cache<String, Data>, _ key: String) async throws -> TimeToLive? {
    try await cache.getStamped(key, Lookup()).value.timeToLive
  }

  @Test(arguments: [1, 70_000])
  func `a value's own time to live survives a restart`(size: Int) async throws {
    let data = Data(count: size)
    var cache = open()
    cache.set(data, for: "own", timeToLive: .after(.seconds(100)))
    cache.set(data, for: "none")
    #expect(try await rest(cache, "own") == .after(.seconds(100)))
    try await leave(cache)

    pass(40)
    cache = open()
    #expect(try await rest(cache, "own") == .after(.seconds(60)))
    #expect(try await rest(cache, "none") == nil)
    #expect(try await cache.file(for: "own").value.timeToLive == .after(.seconds(60)))
    try await leave(cache)

    pass(60)
    cache = open()
    #expect(try await cache.get("own").valueIfAny == nil)
    #expect(try await cache.get("none").valueIfAny == data)
  }

  @Test(arguments: [1, 70_000])
  func `a changed time to live applies to what is stored from then on`(size: Int) async throws {
    let data = Data(count: size)
    let cache = open(.after(.seconds(100)))
    #expect(cache.timeToLive == .after(.seconds(100)))
    cache.set(data, for: "before")

    cache.timeToLive = .after(.seconds(10))
    cache.set(data, for: "set")
    cache.set(data, for: "own", timeToLive: .after(.seconds(50)))
    _ = try await cache.storing(.just(data), for: "streamed").value
    _ = cache.apply(.fill("filled", Stamped(data), FillToken()))
    cache.timeToLive = .forever
    cache.set(data, for: "never")

    let keys = ["before", "set", "own", "streamed", "filled", "never"]
    pass(10)
    #expect(try await stored(keys, in: cache) == ["before", "own", "never"])
    try await leave(cache)
    pass(40)
    let again = open(.after(.seconds(1)))
    #expect(try await stored(keys, in: again) == ["before", "never"])
    pass(50)
    #expect(try await stored(keys, in: again) == ["never"])
  }

  @Test func `a change of the time to live holds for writes that wait for the folder to open`()
    async throws
  {
    let cache = open()
    cache.timeToLive = .after(.seconds(10))
    cache.set(Data("1"), for: "a")
    cache.timeToLive = .forever
    cache.set(Data("2"), for: "b")
    try await cache.flush().value

    pass(10)

    #expect(try await stored(["a", "b"], in: cache) == ["b"])
  }

  @Test func `caches of one folder each have a time to live of their own`() async throws {
    let one = DiskCache(
      directory: scene.folder, byteLimit: 1 << 20, timeToLive: .after(.nanoseconds(1)))
    let other = DiskCache(directory: scene.folder, byteLimit: 1 << 20)
    try await other.set(Data("2"), for: "b").value
    try await one.set(Data("1"), for: "a").value

    #expect(try await stored(["a", "b"], in: other) == ["b"])
    #expect(try await stored(["a", "b"], in: one) == ["b"])
  }

  private func stored(_ keys: [String], in cache: DiskCache) async throws -> [String] {
    var found: [String] = []
    for key in keys where try await cache.get(key).valueIfAny != nil { found.append(key) }
    return found
  }

  @Test func `a value that comes from disk after a restart has only its rest left in memory`()
    async throws
  {
    let first = open()
    let source = AnyCache<String, Data>(Answers(timeToLive: .after(.seconds(100))))
    let clock = ManualClock()
    _ = try await MemoryCache(countLimit: 9, clock: clock).layered(
      over: first.layered(over: source)
    ).get("a").value
    try await leave(first)

    pass(70)
    let memory = MemoryCache<String, Data>(countLimit: 9, clock: clock)
    let cache = memory.layered(over: open())
    _ = try await cache.get("a").value
    clock.advance(by: .seconds(29))
    #expect(memory.peek("a") != nil)
    clock.advance(by: .seconds(1))
    #expect(memory.peek("a") == nil)
  }

  @Test func `an answer is stored for its own time, or the cache's if that is shorter`()
    async throws
  {
    let disk = open(.after(.seconds(50)))
    for (key, seconds) in [("short", 10), ("long", 100)] {
      let cache = disk.layered(over: Answers(timeToLive: .after(.seconds(seconds))))
      _ = try await cache.get(key).value
    }
    disk.set(Data("set"), for: "set", timeToLive: .after(.seconds(100)))
    try await disk.flush().value

    pass(10)
    #expect(try await disk.get("short").valueIfAny == nil)
    #expect(try await disk.get("long").valueIfAny != nil)
    pass(40)
    #expect(try await disk.get("long").valueIfAny == nil)
    #expect(try await disk.get("set").valueIfAny != nil)
    pass(50)
    #expect(try await disk.get("set").valueIfAny == nil)
  }

  @Test func `the time to live of the cache is not that of its values elsewhere`() async throws {
    let disk = open(.after(.seconds(50)))
    disk.set(Data("a"), for: "a")
    try await disk.flush().value

    #expect(try await rest(disk, "a") == nil)
  }

  @Test func `a stored value gets another time to live, which survives a restart`() async throws {
    var cache = open()
    cache.set(Data("a"), for: "a", timeToLive: .after(.seconds(10)))
    cache.set(Data("b"), for: "b", timeToLive: .after(.seconds(10)))
    try await cache.flush().value
    pass(5)
    _ = try await cache.setTimeToLive(.after(.seconds(60)), for: "a").value
    _ = try await cache.setTimeToLive(.forever, for: "b").value
    try await leave(cache)

    pass(59)
    cache = open()
    #expect(try await rest(cache, "a") == .after(.seconds(1)))
    #expect(try await rest(cache, "b") == nil)
    #expect(try await cache.getStamped("a", Lookup()).value.age == .seconds(64))
    pass(1)
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [1, 70_000])
  func `a stored file gets another time to live`(size: Int) async throws {
    let disk = open()
    disk.set(Data(count: size), for: "a")
    try await disk.flush().value
    let files = MediaFileLayer<String>(disk: disk, name: { $0 })

    _ = try await files.setTimeToLive(.after(.seconds(60)), for: "a").value

    #expect(try await rest(disk, "a") == .after(.seconds(60)))
    #expect(try await files.get("a").value.timeToLive == .after(.seconds(60)))
    #expect(try await disk.get("a").value.count == size)
  }

  @Test func `values keep their own times through a compaction`() async throws {
    let cache = scene.open(.mebibytes(1), POSIXCalls()) { [now] in
      $0.now = { now.withLock { $0 } }
    }
    cache.set(Data("kept"), for: "kept", timeToLive: .after(.seconds(100)))
    for number in 0..<2_000 {
      cache.set(Data(repeating: UInt8(truncatingIfNeeded: number), count: 4_000), for: "other")
      if number.isMultiple(of: 100) { try await cache.flush().value }
      _ = try await cache.get("kept").valueIfAny
    }
    try await cache.flush().value

    #expect(try await rest(cache, "kept") == .after(.seconds(100)))
  }

  @Test func `a calendar that is set back prolongs no value's own time`() async throws {
    let cache = open()
    cache.set(Data("a"), for: "a", timeToLive: .after(.seconds(30)))
    try await cache.flush().value
    pass(-50)

    #expect(try await rest(cache, "a") == .after(.seconds(30)))
    pass(80)
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [
    Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1), .seconds(1 << 40),
    .seconds(Int64.max),
  ])
  func `no time to live traps on disk`(time: Duration) async throws {
    let cache = open()
    cache.set(Data("a"), for: "a", timeToLive: .after(time))
    _ = cache.apply(
      .fill("b", Stamped(Data("b"), age: time, timeToLive: .after(time)), FillToken()))
    try await cache.flush().value

    #expect((try await cache.get("a").valueIfAny == nil) == (time < .microseconds(1)))
    #expect((try await cache.get("b").valueIfAny == nil) == (time < .microseconds(1)))
    _ = try await cache.setTimeToLive(.after(time), for: "a").valueIfAny
  }

  @Test(arguments: [Int64.min, 0, .max])
  func `no record with an own expiry traps`(microseconds: Int64) async throws {
    for expiresAt in [Int64.min, 0, .max - 1, .max] {
      let scene = DiskScene()
      let bytes = RecordBytes.make(key: "a", segment: 1) { head in
        head.times = DiskExpiry(
          storedAt: WallTime(microseconds: microseconds),
          expiresAt: WallTime(microseconds: expiresAt), isOwnExpiry: true)
      }
      try scene.makeFolder()
      try Data(bytes).write(to: scene.url(.segment(1)))
      let cache = scene.open()

      let found = try await cache.getStamped("a", Lookup()).valueIfAny
      let memory = MemoryCache<String, Data>(countLimit: 9)
      _ = try await memory.layered(over: cache).get("a").valueIfAny
      #expect(found == nil || expiresAt > 0)
    }
  }

  @Test func `a time until a date is what is left of it`() {
    guard case .after(let rest) = TimeToLive.until(Date(timeIntervalSinceNow: 100)) else {
      Issue.record("never")
      return
    }
    #expect(rest > .zero && rest <= .seconds(100))
    #expect(TimeToLive.until(Date(timeIntervalSinceNow: -1)).isOverAtOnce)
    #expect(TimeToLive.until(.distantPast).isOverAtOnce)
    #expect(TimeToLive.until(.distantFuture) == .forever)
    for odd in [Double.infinity, .greatestFiniteMagnitude] {
      #expect(TimeToLive.until(Date(timeIntervalSince1970: odd)) == .forever)
      #expect(TimeToLive.until(Date(timeIntervalSince1970: -odd)).isOverAtOnce)
    }
    #expect(TimeToLive.until(Date(timeIntervalSince1970: .nan)).isOverAtOnce)
  }

  /// A source whose answers say how long they may be stored.
  private struct Answers: AnsweringSource {
    let timeToLive: TimeToLive

    func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Data>> {
      .just(.value(Stamped(Data(key.utf8), timeToLive: timeToLive)))
    }
  }
}
