import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Removals by predicate from a disk.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheRemovingTests {
  let scene = DiskScene()
  private let mayEncode = Watched(false)

  private func kept(_ cache: DiskCache, _ keys: [String]) async throws -> [String] {
    var kept: [String] = []
    for key in keys where try await cache.get(key).valueIfAny != nil { kept.append(key) }
    return kept
  }

  /// Returns an open cache whose writer waits until the semaphore is signalled.
  private func heldCache() async throws -> (DiskCache, gate: DispatchSemaphore) {
    let cache = scene.open()
    _ = await cache.openStatistics()
    try await cache.set(Data("old"), for: "a/1").value
    try await cache.set(Data("old"), for: "b/1").value
    let gate = DispatchSemaphore(value: 0)
    try #require(cache.access.store).afterWriting { _ = gate.wait(timeout: .now() + 10) }
    return (cache, gate)
  }

  @Test(arguments: [0, 10, 100_000])
  func `the keys that match go for good, and the others stay`(size: Int) async throws {
    let long = String(repeating: "x", count: 1_000)
    let keys = ["a/1", "a/2", "a/\(long)", "a/é", "b/1", "b/\(long)", ""]
    let cache = scene.open()
    for key in keys { cache.set(Data(count: size), for: key) }

    try await cache.removeAll(withPrefix: "a/").value

    #expect(try await kept(cache, keys) == ["b/1", "b/\(long)", ""])
    #expect(try await cache.count.value == 3)
    try await cache.close().value
    let next = scene.open()
    #expect(try await kept(next, keys) == ["b/1", "b/\(long)", ""])
    try await next.close().value
  }

  @Test func `of many keys, half are removed after a restart, in steps`() async throws {
    try await scene.fill { cache in
      for number in 0..<5_000 { cache.set(Data("x"), for: "\(number)") }
    }
    let cache = scene.open()

    try await cache.removeAll { (Int($0) ?? 0).isMultiple(of: 2) }.value

    #expect(try await cache.count.value == 2_500)
    #expect(try await kept(cache, ["0", "1", "4998", "4999"]) == ["1", "4999"])
    try await cache.close().value
  }

  @Test func `nothing is removed from an empty cache, nor by a predicate that none satisfies`()
    async throws
  {
    let cache = scene.open()
    try await cache.removeAll { _ in true }.value
    cache.set(Data("x"), for: "a")
    try await cache.removeAll { _ in false }.value
    #expect(try await kept(cache, ["a"]) == ["a"])
    try await cache.removeAll(withPrefix: "").value
    #expect(try await kept(cache, ["a"]) == [])
    try await cache.close().value
  }

  @Test func `gets miss the keys at once, before the removal has reached them`() async throws {
    let (cache, gate) = try await heldCache()

    let outcome = cache.removeAll(withPrefix: "a/")

    #expect(try await kept(cache, ["a/1", "b/1"]) == ["b/1"])
    #expect(try await cache.contains("a/1").value == false)
    #expect(try await cache.contains("b/1").value)
    #expect(try await cache.file(for: "a/1").valueIfAny == nil)
    gate.signal()
    try await outcome.value
    #expect(try await kept(cache, ["a/1", "b/1"]) == ["b/1"])
    try await cache.close().value
  }

  @Test func `a set during the removal stays, now and after a restart`() async throws {
    let (cache, gate) = try await heldCache()

    let outcome = cache.removeAll(withPrefix: "a/")
    cache.set(Data("new"), for: "a/1")
    cache.set(Data("new"), for: "a/2")
    #expect(try await cache.get("a/1").value == Data("new"))
    gate.signal()
    try await outcome.value

    #expect(try await cache.get("a/1").value == Data("new"))
    try await cache.close().value
    let next = scene.open()
    #expect(try await kept(next, ["a/1", "a/2", "b/1"]) == ["a/1", "a/2", "b/1"])
    try await next.close().value
  }

  @Test func `a set that is encoded meanwhile is refused, a fill of an older get too`()
    async throws
  {
    let cache = scene.open()
    let slow = Codec<Data, String>.asynchronous(
      encode: { [mayEncode] text in
        try await mayEncode.wait(for: "the gate") { $0 }
        return Data(text.utf8)
      }, decode: { String(decoding: $0, as: UTF8.self) })
    let origin = TestOrigin<String, Data>()
    let outcomes = ["a/1", "b/1"].map { cache.mapValues(slow).set("older", for: $0) }
    let gets = ["a/2", "b/2"].map {
      Recorder<Data>().subscribe(to: cache.layered(over: origin).get($0))
    }
    for key in ["a/2", "b/2"] { try await origin[key].subscriptions(count: 1) }

    try await cache.removeAll(withPrefix: "a/").value
    mayEncode.change { $0 = true }
    for outcome in outcomes { try await outcome.value }
    for key in ["a/2", "b/2"] {
      origin[key].next(Data("older"))
      origin[key].completed()
    }
    for get in gets { try await get.ended() }

    let keys = ["a/1", "a/2", "b/1", "b/2"]
    #expect(try await kept(cache, keys) == ["b/1", "b/2"])
    try await cache.close().value
    let next = scene.open()
    #expect(try await kept(next, keys) == ["b/1", "b/2"])
    try await next.close().value
  }

  @Test func `a set is compared again if another removal came meanwhile`() async throws {
    let cache = scene.open()
    _ = await cache.openStatistics()
    let revision = Revision.next()
    let pending = PendingWrite(revision)
    _ = cache.removeAll { key in
      // The set arrives while this predicate is asked, and the next removal then.
      if key == "a/1" { _ = cache.removeAll(withPrefix: "a/") }
      return false
    }

    let outcome = cache.apply(.set("a/1", Data("late"), revision))
    pending.end()
    try await outcome.value

    #expect(try await cache.get("a/1").valueIfAny == nil)
    try await cache.close().value
  }

  @Test func `a stream that runs meanwhile is not stored, and leaves no file`() async throws {
    let cache = scene.open()
    let sources = ["a/1": TestSource<Data>(), "b/1": TestSource<Data>()]
    let outcomes = sources.map { key, source in
      Recorder<Void>().subscribe(to: cache.storing(source.signal, for: key))
    }
    for source in sources.values { try await source.subscriptions(count: 1) }
    for source in sources.values { source.next(Data(count: 300_000)) }

    try await cache.removeAll(withPrefix: "a/").value
    for source in sources.values { source.completed() }
    for outcome in outcomes { try await outcome.ended() }
    try await cache.flush().value

    #expect(try await kept(cache, ["a/1", "b/1"]) == ["b/1"])
    try await cache.close().value
    #expect(scene.valueFiles.count == 1)
  }

  @Test func `before the folder is open, calls keep their order`() async throws {
    try await scene.fill { $0.set(Data("old"), for: "a/1") }
    let cache = scene.open()

    cache.set(Data("x"), for: "a/2")
    _ = cache.removeAll(withPrefix: "a/")
    cache.set(Data("x"), for: "a/3")

    #expect(try await kept(cache, ["a/1", "a/2", "a/3"]) == ["a/3"])
    try await cache.close().value
  }

  @Test(arguments: [true, false])
  func `a flush or a close waits for the removal`(closes: Bool) async throws {
    try await scene.fill { cache in
      for number in 0..<3_000 { cache.set(Data("x"), for: "a/\(number)") }
      cache.set(Data("x"), for: "b/1")
    }
    if closes {
      try await scene.fill { _ = $0.removeAll(withPrefix: "a/") }
    } else {
      try await scene.fillAndDie { _ = $0.removeAll(withPrefix: "a/") }
    }

    let cache = scene.open()
    #expect(try await cache.count.value == 1)
    #expect(try await kept(cache, ["a/0", "a/2999", "b/1"]) == ["b/1"])
    try await cache.close().value
  }

  @Test(arguments: 0..<12)
  func `after a kill in the middle each value is whole or gone, and other keys stay`(
    calls: Int
  ) async throws {
    let keys = (0..<40).map { "a/\($0)" }
    try await scene.fill { cache in
      for key in keys { cache.set(Data(key), for: key) }
      for key in keys { cache.set(Data(count: 70_000), for: "b\(key)") }
    }
    let faults = FaultyCalls()
    let dying = scene.open(.mebibytes(64), faults)
    _ = await dying.openStatistics()
    faults.inject(
      .death(isHalfDone: calls.isMultiple(of: 2)), after: calls, of: FaultyCalls.Call.effects)
    let outcome = Recorder<Void>().subscribe(to: dying.removeAll { $0.contains("a/") })
    try await outcome.ended()
    faults.die()
    try await dying.close().value

    let cache = scene.open()
    for key in keys {
      let value = try await cache.get(key).valueIfAny
      #expect(value == nil || value == Data(key))
      let large = try await cache.get("b\(key)").valueIfAny
      #expect(large == nil || large?.count == 70_000)
    }
    if outcome.failure == nil { #expect(try await cache.count.value == 0) }
    // Once more, as the documentation says.
    try await cache.removeAll { $0.contains("a/") }.value
    #expect(try await cache.count.value == 0)
    try await cache.close().value
  }

  @Test func `a log that can't be read fails the outcome, and the next removal succeeds`()
    async throws
  {
    let keys = (0..<5).map { "a/\($0)" }
    try await scene.fill { cache in for key in keys { cache.set(Data("x"), for: key) } }
    let faults = FaultyCalls()
    let cache = scene.open(.mebibytes(64), faults)
    _ = await cache.openStatistics()
    faults.inject(.error(.EIO), of: [.read])

    let outcome = cache.removeAll(withPrefix: "a/")

    await #expect(throws: CacheError.self) { try await outcome.value }
    #expect(try await cache.count.value == 5)
    try await cache.removeAll(withPrefix: "a/").value
    #expect(try await cache.count.value == 0)
    try await cache.close().value
  }

  @Test func `an evicted value that is still in the log does not come back after a kill`()
    async throws
  {
    // Room for 200 values: the first one goes when another 200 come.
    let needed = 200 * DiskLimits.cost(recordSize: RecordHead.size + 105, large: 0)
    let limit = (needed...).first { DiskLimits(byteLimit: $0).costLimit >= needed } ?? 0
    let calls = FaultyCalls()
    let cache = scene.open(limit, calls)
    for number in 0..<201 {
      cache.set(Data(count: 100), for: number < 3 ? "a/100" + "\(number)" : "b/\(1_000 + number)")
    }
    try await cache.flush().value
    #expect(cache.statistics.evictions > 0)
    try #require(try scene.log().range(of: Data("a/1000")) != nil)

    try await cache.removeAll(withPrefix: "a/").value

    calls.die()
    try await cache.close().value
    let next = scene.open()
    #expect(try await kept(next, ["a/1000", "a/1001", "a/1002", "b/1200"]) == ["b/1200"])
    try await next.close().value
  }

  enum Former: CaseIterable {
    case remove, removeAll, removeMatching
  }

  @Test(arguments: Former.allCases)
  func `values that a failed removal has left in the log are removed by the next one`(
    former: Former
  ) async throws {
    let faults = FaultyCalls()
    let cache = scene.open(.mebibytes(64), faults)
    for key in ["a/1", "a/2", "b/1"] { try await cache.set(Data(key), for: key).value }
    faults.inject(.error(.EIO), of: FaultyCalls.Call.effects, count: 20)
    let outcome =
      switch former {
      case .remove: cache.remove("a/1")
      case .removeAll: cache.removeAll()
      case .removeMatching: cache.removeAll(withPrefix: "a/")
      }
    await #expect(throws: CacheError.self) { try await outcome.value }
    faults.recover()

    try await cache.removeAll(withPrefix: "a/").value

    faults.die()
    try await cache.close().value
    let next = scene.open()
    #expect(try await kept(next, ["a/1", "a/2", "b/1"]) == ["b/1"])
    try await next.close().value
  }

  @Test(arguments: 0..<3, [false, true])
  func `a removal that can't be written fails, though another one emptied the index`(
    calls: Int, isFirst: Bool
  ) async throws {
    let faults = FaultyCalls()
    let cache = scene.open(.mebibytes(64), faults)
    _ = await cache.openStatistics()
    try await cache.set(Data("x"), for: "a/1").value
    faults.inject(.death(isHalfDone: false), after: calls, of: FaultyCalls.Call.effects)

    let gate = DispatchSemaphore(value: 0)
    try #require(cache.access.store).afterWriting { _ = gate.wait(timeout: .now() + 10) }
    let early = isFirst ? Recorder<Void>().subscribe(to: cache.removeAll(withPrefix: "a/")) : nil
    let all = Recorder<Void>().subscribe(to: cache.removeAll())
    let some = early ?? Recorder<Void>().subscribe(to: cache.removeAll(withPrefix: "a/"))
    gate.signal()

    try await all.ended()
    try await some.ended()
    try await cache.close().value
    let next = scene.open()
    let isStored = try await next.get("a/1").valueIfAny != nil
    #expect(!isStored || all.failure is CacheError && some.failure is CacheError)
    if calls == 0 { #expect(isStored) }
    try await next.close().value
  }

  @Test func `the search of the log spares what was set since, and what a removal of all spared`()
    async throws
  {
    let early = Revision.next()
    try await scene.fillAndDie(8_000) { cache in
      for number in 0..<40 { cache.set(Data(count: 100), for: "a/\(number)") }
      cache.apply(.removeAll(early)).subscribe()
      cache.remove("a/39")
      cache.set(Data("late"), for: "a/38")
      _ = cache.removeAll { $0 == "a/0" || $0 == "a/1" }
      cache.set(Data("late"), for: "a/0")
    }

    let next = scene.open()
    #expect(try await next.get("a/0").valueIfAny == Data("late"))
    #expect(try await kept(next, ["a/1", "a/38", "a/39"]) == ["a/38"])
    try await next.close().value
  }

  @Test func `a predicate that throws keeps its key, and fails the outcome`() async throws {
    struct Trouble: Error {}
    let cache = scene.open()
    for key in ["a", "b", "c"] { cache.set(Data("x"), for: key) }

    let outcome = cache.removeAll { key in
      if key == "b" { throw Trouble() }
      return true
    }

    await #expect(throws: Trouble.self) { try await outcome.value }
    #expect(try await kept(cache, ["a", "b", "c"]) == ["b"])
    try await cache.close().value
  }

  @Test func `a predicate may use the cache, and take a lock that a caller holds`() async throws {
    let cache = scene.open()
    let user = DispatchSemaphore(value: 1)
    for key in ["a", "b"] { cache.set(Data("x"), for: key) }

    user.wait()
    let outcome = cache.removeAll { key in
      user.wait()
      defer { user.signal() }
      cache.set(Data("y"), for: "c")
      return key == "a"
    }
    user.signal()
    try await outcome.value

    #expect(try await kept(cache, ["a", "b", "c"]) == ["b", "c"])
    try await cache.close().value
  }

  @Test func `a map of numbers removes by its own keys, in its files too`() async throws {
    let map = MultiplexerMap<Int, String>(
      over: TestOrigin<Int, String>(), persistence: .disk("numbers", in: scene.folder))
    for number in 0..<10 { map.set("\(number)", for: number) }

    try await map.removeAll { $0 < 7 }.value
    try await map.flush().value

    let cache = DiskCache(
      directory: scene.url("numbers"), byteLimit: .mebibytes(64))
    #expect(try await cache.count.value == 3)
    try await map.shutDown(deadline: .after(.seconds(5))).value
  }

  @Test func `files of media are not removed, and the outcome says so`() async throws {
    let disk = scene.open()
    let media = MediaCache(disk, over: HTTPSource<URL>(), limitedTo: 1, name: \.absoluteString)

    await #expect {
      try await media.removeAll { _ in true }.value
    } throws: { "\($0)".contains("the layer MediaCache does not support removeAll(where:)") }
    try await disk.close().value
  }
}
