import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Keys, dates and values of any kind.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheContentTests {
  let scene = DiskScene()

  // MARK: - Keys

  @Test func `keys of any content and length are distinct, and stay inside the folder`()
    async throws
  {
    let long = String(repeating: "x", count: 10 << 20)
    let keys = [
      "", ".", "..", "/", "../x", "../../x", "a/b", "\u{0}", "a\u{0}", "a", "A", "\u{E9}",
      "e", "\u{1F469}\u{200D}\u{1F467}", "CON", "a\nb", String(repeating: "é", count: 300), long,
      long + "x",
    ]
    try await scene.fill { cache in
      for (index, key) in keys.enumerated() { cache.set(Data("\(index)"), for: key) }
    }

    let cache = scene.open()
    for (index, key) in keys.enumerated() {
      #expect(try await cache.get(key).valueIfAny == Data("\(index)"))
    }
    #expect(try await cache.count.value == keys.count)
    #expect(scene.names.allSatisfy { FileName($0) != nil && $0 == $0.lowercased() })
  }

  @Test(arguments: [10, 70_000])
  func `equal keys with different bytes are one key, by every way of asking, and after a restart`(
    count: Int
  ) async throws {
    let (one, other) = ("caf\u{E9}", "cafe\u{301}")
    let cache = scene.open()
    let outcome = cache.set(Data(count: count), for: one)
    #expect(try await cache.get(other).value.count == count)
    try await outcome.value

    #expect(try await cache.get(other).value.count == count)
    #expect(try await cache.contains(other).value)
    #expect(try await cache.file(for: other).value.byteCount == count)
    // Unknown until everything that waited for the opening has been let in.
    #expect(cache.topology(for: other).holds != false)
    try await cache.storing(.just(Data(count: count + 1)), for: other).value
    #expect(try await cache.count.value == 1)
    #expect(try await cache.get(one).value.count == count + 1)
    #expect(try await cache.setTimeToLive(.after(.seconds(1_000)), for: one).value)
    #expect(try await cache.getStamped(other, Lookup()).value.timeToLive != nil)
    try await cache.close().value

    let again = scene.open()
    #expect(try await again.get(one).value.count == count + 1)
    try await again.remove(other).value
    #expect(try await again.get(one).valueIfAny == nil)
    try await again.set(Data(count: count), for: other).value
    try await again.removeAll { $0 == one }.value
    #expect(try await again.get(other).valueIfAny == nil)
  }

  // MARK: - Dates

  @Test(arguments: [Int64.max, .min, 4_000_000_000_000_000])
  func `a value from the future is found, and counts as very old`(microseconds: Int64) async throws
  {
    let bytes = RecordBytes.make(key: "a", segment: 1) { head in
      head.storedAt = WallTime(microseconds: microseconds)
    }
    try scene.makeFolder()
    try Data(bytes).write(to: scene.url(.segment(1)))
    let cache = scene.open()

    #expect(try await cache.getStamped("a", Lookup()).value.age == WallTime.greatestAge)
    #expect(try await cache.get("a", freshness: .atMost(.seconds(1 << 31))).valueIfAny == nil)
  }

  @Test(arguments: [Int64.min, -1, 0, 1, Int64.max - 1])
  func `no expiry date traps, and a value is a miss after its expiry`(
    microseconds: Int64
  ) async throws {
    let bytes = RecordBytes.make(key: "a", segment: 1) { head in
      head.storedAt = WallTime(microseconds: .min)
      head.expiresAt = WallTime(microseconds: microseconds)
    }
    try scene.makeFolder()
    try Data(bytes).write(to: scene.url(.segment(1)))
    let cache = scene.open()

    #expect(try await cache.contains("a").value == (microseconds > 1))
    #expect(try await cache.get("a").valueIfAny == (microseconds > 1 ? Data("value") : nil))
    #expect(try await cache.count.value == (microseconds > 1 ? 1 : 0))
  }

  @Test(arguments: [10, 70_000])
  func `a clock that steps back by less than a minute expires nothing`(count: Int) async throws {
    let now = Watched(WallTime(microseconds: 10_000_000_000))
    let open = {
      self.scene.open(.mebibytes(1), POSIXCalls()) { options in
        options.timeToLive = .after(.seconds(600))
        options.now = { now.state }
      }
    }
    let cache = open()
    try await cache.set(Data(count: count), for: "a").value

    now.change { $0 = WallTime(microseconds: 10_000_000_000 - 59_999_999) }

    #expect(try await cache.getStamped("a", Lookup()).value.age == .zero)
    try await cache.close().value
    let again = open()
    #expect(try await again.getStamped("a", Lookup()).value.age == .zero)
    // Further back it is not known how long ago the value was stored: it is not used for longer.
    now.change { $0 = WallTime(microseconds: 10_000_000_000 - 60_000_000) }
    #expect(try await again.get("a").valueIfAny == nil)
  }

  @Test(arguments: [10, 70_000])
  func `a time to live ends by the calendar, after a restart too`(count: Int) async throws {
    let now = Watched(WallTime(microseconds: 1_000_000_000))
    let open = {
      self.scene.open(.mebibytes(1), POSIXCalls()) { options in
        options.timeToLive = .after(.seconds(60))
        options.now = { now.state }
      }
    }
    let cache = open()
    try await cache.set(Data(count: count), for: "a").value
    now.change { $0 = WallTime(microseconds: 1_059_999_999) }
    #expect(try await cache.get("a").value.count == count)
    try await cache.close().value

    now.change { $0 = WallTime(microseconds: 1_060_000_000) }
    let again = open()
    #expect(try await again.get("a").valueIfAny == nil)
    #expect(try await again.count.value == 0)
    #expect(await again.openStatistics().expirations == 1)
    try await again.flush().value
    #expect(scene.valueFiles == [])
  }

  @Test func `a value from the future has expired if there is a time to live`() async throws {
    let now = Watched(WallTime(microseconds: 1_000_000_000))
    let cache = scene.open(.mebibytes(1), POSIXCalls()) { options in
      options.timeToLive = .after(.seconds(60))
      options.now = { now.state }
    }
    try await cache.set(Data("x"), for: "a").value

    now.change { $0 = WallTime(microseconds: 940_000_000) }

    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `a time to live that is over at once keeps nothing, nor what was kept`(
    timeToLive: Duration
  ) async throws {
    try await scene.fillAndDie { cache in
      cache.set(Data("old"), for: "a")
      cache.set(Data("new"), for: "a", timeToLive: .after(timeToLive))
    }

    #expect(try await scene.open().get("a").valueIfAny == nil)
  }

  // MARK: - Schemas, seals and codecs

  private struct Trouble: Error {}

  private func open(_ form: DiskValueFormat) -> DiskCache {
    scene.open(.mebibytes(1), POSIXCalls()) { $0.form = form }
  }

  @Test(arguments: [10, 70_000])
  func `a value of another schema is migrated, or a miss that stays`(count: Int) async throws {
    let value = Data(repeating: 1, count: count)
    try await scene.fill { $0.set(value, for: "a") }

    let strict = open(DiskValueFormat(schema: DiskSchema(version: 2), sealing: nil))
    #expect(try await strict.get("a").valueIfAny == nil)
    try await strict.close().value
    let failing = open(
      DiskValueFormat(schema: DiskSchema(version: 2) { _, _ in throw Trouble() }, sealing: nil))
    #expect(try await failing.get("a").valueIfAny == nil)
    try await failing.close().value
    let migrating = open(
      DiskValueFormat(
        schema: DiskSchema(version: 2) { value, from in value + Data("\(from)") }, sealing: nil))
    #expect(try await migrating.get("a").value == value + Data("0"))
  }

  @Test(arguments: [10, 60_000, 70_000])
  func `a sealed value is opened, nowhere to be read, and counts as it is`(
    count: Int
  ) async throws {
    let sealing = DiskSealing(
      seal: { value, key in Data(value.map { $0 ^ 0x55 }) + Data(count: 10_000) },
      open: { value, key in Data(value.dropLast(10_000).map { $0 ^ 0x55 }) })
    let form = DiskValueFormat(schema: .unversioned, sealing: sealing)
    let value = Data("secret") + Data(repeating: 1, count: count)
    let cache = open(form)
    try await cache.set(value, for: "a").value
    #expect(try await cache.totalBytes.value > count + 10_000)
    try await cache.close().value

    for name in scene.names {
      #expect(try Data(contentsOf: scene.url(name)).range(of: Data("secret")) == nil)
    }
    #expect(try await open(form).get("a").value == value)
  }

  @Test
  func `a value that cannot be sealed leaves the old one, and one that cannot be opened is a miss`()
    async throws
  {
    let isBroken = Watched(false)
    let cache = open(
      DiskValueFormat(
        schema: .unversioned,
        sealing: DiskSealing(
          seal: { value, _ in if isBroken.state { throw Trouble() } else { value } },
          open: { value, _ in if value.first == 0 { throw Trouble() } else { value } })))
    try await cache.set(Data("old"), for: "a").value
    try await cache.set(Data(count: 3), for: "b").value
    isBroken.change { $0 = true }

    #expect(try await failure(of: cache.set(Data("new"), for: "a")) != nil)

    #expect(try await cache.get("a").value == Data("old"))
    #expect(try await cache.get("b").valueIfAny == nil)
  }

  @Test func `a value that cannot be encoded leaves the old one`() async throws {
    let disk = scene.open()
    let numbers = disk.mapValues(
      Codec<Data, Int>(
        encode: { number in
          if number < 0 { throw Trouble() }
          return Data("\(number)")
        }, decode: { _ in 0 }))
    try await numbers.set(1, for: "a").value

    await #expect(throws: Trouble.self) { try await numbers.set(-1, for: "a").value }

    #expect(try await disk.get("a").value == Data("1"))
  }

  @Test func `a value that cannot be decoded is a miss, and the next layer is asked`() async throws
  {
    let disk = scene.open()
    try await disk.set(Data("garbage"), for: "a").value
    let numbers = disk.mapValues(
      Codec<Data, Int>(encode: { Data("\($0)") }, decode: { _ in throw Trouble() }))
    let origin = MemoryCache<String, Int>(countLimit: 1)
    origin.set(7, for: "a")

    #expect(try await numbers.layered(over: origin).get("a").value == 7)
  }
}
