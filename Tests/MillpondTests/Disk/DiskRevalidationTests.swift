import Dispatch
import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond
@testable import MillpondCore

/// Values on disk that an origin confirms.
@Suite(.timeLimit(.minutes(3))) struct DiskRevalidationTests {
  let scene = DiskScene()
  let now = Locked(WallTime(microseconds: 1_000_000_000_000))

  private static let tag = Validator(entityTag: "\"1\"", lastModified: "yesterday")

  private func open(_ timeToLive: TimeToLive = .forever) -> DiskCache {
    scene.open(.mebibytes(8), POSIXCalls()) { [now] in
      $0.timeToLive = timeToLive
      $0.now = { now.withLock { $0 } }
    }
  }

  private func pass(_ seconds: Int64) {
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + seconds * 1_000_000) }
  }

  private func origin(_ data: Data, _ known: Locked<[Validator?]>) -> FunctionSource<String, Data> {
    FunctionSource.validating { _, validator in
      known.withLock { $0.append(validator) }
      if validator == Self.tag { return .notModified(timeToLive: .after(.seconds(50))) }
      return .value(Stamped(data, validator: Self.tag, timeToLive: .after(.seconds(50))))
    }
  }

  private var files: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: scene.folder.path)) ?? []
    return names.filter { $0.hasSuffix(FileName.valueSuffix) }.sorted()
  }

  @Test(arguments: [10, 5_000, 300_000])
  func `an expired value is confirmed, also after a restart, and its file stays`(
    size: Int
  ) async throws {
    let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
    let known = Locked<[Validator?]>([])
    var cache = open()
    #expect(try await cache.layered(over: origin(data, known)).get("a").value == data)
    try await cache.flush().value
    let before = files
    try await cache.close().value
    pass(60)

    cache = open()
    #expect(try await cache.get("a").valueIfAny == nil)
    let confirmed = try await cache.layered(over: origin(data, known))
      .getStamped("a", Lookup()).value
    #expect(confirmed.value == data && confirmed.age == .zero)
    try await cache.flush().value
    pass(40)
    #expect(try await cache.getStamped("a", Lookup()).value.age == .seconds(40))
    try await cache.close().value

    cache = open()
    let stored = try await cache.getStamped("a", Lookup()).value
    #expect(stored.value == data && stored.validator == Self.tag)
    #expect(stored.timeToLive == .after(.seconds(10)))
    #expect(files == before && before.count == (size > 100_000 ? 1 : 0))
    #expect(known.withLock { $0 } == [nil, Self.tag])
  }

  @Test func `a renewal writes a record, and no value`() async throws {
    let data = Data(count: 1 << 20)
    let known = Locked<[Validator?]>([])
    let cache = open()
    _ = try await cache.layered(over: origin(data, known)).get("a").value
    try await cache.flush().value
    let before = await cache.openStatistics().bytesWritten
    pass(60)

    _ = try await cache.layered(over: origin(data, known)).get("a").value
    try await cache.flush().value

    #expect(cache.statistics.bytesWritten - before < 1_000)
  }

  @Test(arguments: [10, 300_000])
  func `a value that expires by the cache's time is confirmed, one without validator removed`(
    size: Int
  ) async throws {
    let cache = open(.after(.seconds(10)))
    let tagged = Stamped(Data(count: size), validator: Self.tag)
    try await cache.apply(.set("tagged", tagged, .next())).value
    try await cache.set(Data(count: size), for: "plain").value
    pass(11)

    #expect(try await cache.get("plain").valueIfAny == nil)
    #expect(try await cache.get("tagged").valueIfAny == nil)
    let statistics = cache.statistics

    let reload = Lookup(freshness: .reload)
    #expect(try await cache.answers("plain", reload).valueIfAny == nil)
    let answer = try await cache.answers("tagged", reload).value
    #expect(answer.confirmable?.validator == Self.tag)
    #expect(cache.statistics.hits == statistics.hits)
    #expect(cache.statistics.misses == statistics.misses)
    #expect(statistics.expirations == 1)
  }

  @Test(arguments: [10, 300_000], [true, false])
  func `a renewal that is overtaken by a write changes nothing`(
    size: Int, isWritten: Bool
  ) async throws {
    let cache = open()
    let tagged = Stamped(Data(count: size), age: .seconds(5), validator: Self.tag)
    try await cache.apply(.set("a", tagged, .next())).value
    try await cache.apply(.set("b", tagged, .next())).value
    try await cache.apply(.set("c", tagged, .next())).value
    let token = FillToken()
    let renewed = Stamped(Data(count: size), validator: Self.tag)
    cache.set(Data("new"), for: "a")
    cache.remove("b")
    let other = Stamped(Data("other"), validator: Validator(entityTag: "\"2\""))
    _ = cache.apply(.fill("c", other, FillToken()))
    if isWritten { try await cache.flush().value }

    for key in ["a", "b", "c", "absent"] {
      _ = try await cache.apply(.fill(key, renewed, token.ofRenewal())).valueIfAny
    }
    try await cache.flush().value

    #expect(try await cache.get("a").value == Data("new"))
    #expect(try await cache.get("b").valueIfAny == nil)
    #expect(try await cache.get("c").value == Data("other"))
    #expect(try await cache.get("absent").valueIfAny == nil)
    #expect(cache.statistics.damages == 0)
  }

  @Test func `a write right after a renewal wins, and takes the file away`() async throws {
    let cache = open()
    let tagged = Stamped(Data(count: 300_000), age: .seconds(5), validator: Self.tag)
    try await cache.apply(.set("a", tagged, .next())).value
    try await cache.apply(.set("b", tagged, .next())).value
    #expect(files.count == 2)

    for key in ["a", "b"] {
      _ = cache.apply(.fill(key, tagged, FillToken().ofRenewal()))
      _ = cache.apply(.fill(key, tagged, FillToken().ofRenewal()))
    }
    cache.set(Data("new"), for: "a")
    cache.remove("b")
    try await cache.flush().value

    #expect(try await cache.get("a").value == Data("new"))
    #expect(try await cache.get("b").valueIfAny == nil)
    #expect(files.isEmpty)
  }

  @Test func `a renewal that can't be written leaves the value as it was`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls) { [now] in $0.now = { now.withLock { $0 } } }
    let tagged = Stamped(Data(count: 300_000), age: .seconds(5), validator: Self.tag)
    try await cache.apply(.set("a", tagged, .next())).value
    pass(10)

    calls.inject(.error(.ENOSPC), of: [.write], count: 100)
    let renewed = Stamped(Data(count: 300_000), validator: Self.tag)
    let outcome = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", renewed, FillToken().ofRenewal())))
    try await outcome.ended()
    calls.recover()

    #expect(outcome.failure != nil)
    #expect(try await cache.getStamped("a", Lookup()).value.age == .seconds(15))
    #expect(files.count == 1)
  }

  @Test func `decoded values are confirmed, and encoded only if they are small`() async throws {
    let known = Locked<[Validator?]>([])
    let cache = open()
    let texts = cache.mapValues(.utf8)
    let text = String(repeating: "a", count: 100_000)
    let source = origin(Data(text.utf8), known).mapValues { String(decoding: $0, as: UTF8.self) }
    _ = try await texts.layered(over: source).get("a").value
    try await cache.flush().value
    let before = files
    pass(60)

    #expect(try await texts.layered(over: source).get("a").value == text)
    try await cache.flush().value

    #expect(files == before)
    #expect(known.withLock { $0 } == [nil, Self.tag])
  }

  @Test(arguments: [true, false])
  func `another time to live keeps the value that a later get has filled in`(
    isWritten: Bool
  ) async throws {
    let cache = open()
    _ = cache.apply(.fill("a", Stamped(Data("older")), FillToken()))
    if isWritten { try await cache.flush().value }
    // As `setTimeToLive` does, in which another get is answered meanwhile.
    let token = FillToken().ofRenewal()
    let found = try await cache.getStamped("a", Lookup()).value
    _ = cache.apply(.fill("a", Stamped(Data("newer")), FillToken()))
    if isWritten { try await cache.flush().value }

    let lasting = Stamped(found.value, age: found.age, timeToLive: .after(.seconds(50)))
    try await cache.apply(.fill("a", lasting, token)).value

    #expect(try await cache.get("a").value == Data("newer"))
    pass(51)
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [10, 300_000])
  func `a renewal does not replace a value that comes while the stored one is read`(
    size: Int
  ) async throws {
    let act = Locked<(@Sendable () -> Void)?>(nil)
    let calls = FaultyCalls { if $0 == .read { act.withLock { exchange(&$0, with: nil) }?() } }
    let cache = scene.open(.mebibytes(8), calls)
    let tagged = Stamped(Data(count: size), validator: Self.tag)
    try await cache.apply(.set("a", tagged, .next())).value
    calls.inject(.half, of: [.readNow], count: 1_000)
    let other = Stamped(Data("other"), validator: Validator(entityTag: "\"2\""))
    act.withLock { $0 = { _ = cache.apply(.fill("a", other, FillToken())) } }

    // Stored or not: the other one may be admitted while it is compared, or just afterwards.
    _ = try await cache.apply(.fill("a", tagged, FillToken().ofRenewal())).valueIfAny
    try await cache.flush().value

    #expect(act.withLock { $0 == nil })
    #expect(try await cache.get("a").value == Data("other"))
  }

  @Test func `a streamed value gets another time to live before its record is written`()
    async throws
  {
    let (gate, isHeld) = (DispatchSemaphore(value: 0), Watched(false))
    let calls = FaultyCalls { call in
      if call == .write, !isHeld.state {
        isHeld.change { $0 = true }
        _ = gate.wait(timeout: .now() + 10)
      }
    }
    let cache = scene.open(.mebibytes(8), calls) { [now] in $0.now = { now.withLock { $0 } } }
    cache.set(Data("other"), for: "b")
    try await isHeld.wait(for: "the writing of another record") { $0 }
    let data = Data(count: 300_000)
    let stored = Recorder<Void>().subscribe(to: cache.storing(.just(data), for: "a"))
    while cache.access.store?.hasEntry(KeyHash(of: "a")) != true { await Task.yield() }

    // As `setTimeToLive` does, when it has found the value.
    let lasting = Stamped(data, timeToLive: .after(.seconds(50)))
    let renewal = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", lasting, FillToken().ofRenewal())))
    gate.signal()
    try await stored.ended()
    try await renewal.ended()

    #expect(renewal.isCompleted && renewal.values.count == 1)
    #expect(try await cache.get("a").value == data)
    pass(51)
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [10, 300_000])
  func `a reload's renewal of a value that is gone refuses no older gets`(size: Int) async throws {
    let cache = open()
    let other = Stamped(Data(count: size), validator: Validator(entityTag: "\"2\""))
    try await cache.apply(.set("a", other, .next())).value
    let older = FillToken()
    let confirmed = Stamped(Data(count: size), validator: Self.tag)

    let reload = FillToken(isReload: true).ofRenewal()
    #expect(try await cache.apply(.fill("a", confirmed, reload)).valueIfAny == nil)

    try await cache.apply(.fill("a", Stamped(Data("older")), older)).value
    #expect(try await cache.get("a").value == Data("older"))
  }
}
