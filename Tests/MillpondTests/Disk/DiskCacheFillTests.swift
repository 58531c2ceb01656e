import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheFillTests {
  let scene = DiskScene()

  @Test func `a fill is kept, unless a write came since its mark`() async throws {
    let cache = scene.open()
    try await cache.flush().value
    let mark = FillToken()

    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value
    #expect(try await cache.get("a").value == Data("fill"))

    cache.set(Data("written"), for: "a")
    #expect(try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).valueIfAny == nil)
    #expect(try await cache.get("a").value == Data("written"))
    try await cache.flush().value
  }

  @Test func `a fill comes too late after a removal`() async throws {
    let cache = scene.open()
    try await cache.flush().value
    let beforeRemove = FillToken()
    cache.remove("a")
    let beforeRemoveAll = FillToken()
    cache.removeAll()

    cache.apply(.fill("a", Stamped(Data("fill")), beforeRemove))
      .subscribe()
    let late = cache.apply(.fill("a", Stamped(Data("fill")), beforeRemoveAll))
    #expect(try await late.valueIfAny == nil)

    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test func `a mark from before the opening lets no fill overwrite a write`() async throws {
    let cache = scene.open()
    let mark = FillToken()
    cache.set(Data("written"), for: "a")

    #expect(try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).valueIfAny == nil)

    #expect(try await cache.get("a").value == Data("written"))
    try await cache.flush().value
  }

  @Test func `a mark from before the opening admits a fill of a key without writes`() async throws {
    let cache = scene.open()
    let mark = FillToken()

    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value

    #expect(try await cache.get("a").value == Data("fill"))
  }

  @Test func `a value from an earlier run can be replaced by a fill`() async throws {
    try await scene.fill { $0.set(Data("old"), for: "a") }
    let cache = scene.open()
    try await cache.flush().value

    try await cache.apply(.fill("a", Stamped(Data("fill")), FillToken())).value

    #expect(try await cache.get("a").value == Data("fill"))
  }

  @Test func `a filled value keeps its age and its validator`() async throws {
    let validator = Validator(entityTag: "\"1\"", lastModified: "yesterday")
    let stamped = Stamped(Data("x"), age: .seconds(29 * 60), validator: validator)
    try await scene.fill { $0.apply(.fill("a", stamped, .any)).subscribe() }

    let found = try await scene.open().getStamped("a", Lookup()).value

    #expect(found.value == Data("x"))
    #expect(found.validator == validator)
    #expect(found.age >= .seconds(29 * 60) && found.age < .seconds(30 * 60))
  }

  @Test func `a fill of any age traps nothing`() async throws {
    let cache = scene.open()

    for age in [Duration.seconds(Int64.max), .nanoseconds(1), .zero] {
      try await cache.apply(.fill("a", Stamped(Data("x"), age: age), .any)).value
      #expect(try await cache.getStamped("a", Lookup()).value.age <= WallTime.greatestAge)
    }
  }

  @Test(arguments: [true, false])
  func `a lookup decides which answers will do`(isWritten: Bool) async throws {
    let cache = scene.open()
    let stamped = Stamped(Data("x"), age: .seconds(60))
    let outcome = cache.apply(.fill("a", stamped, .any))
    if isWritten { try await outcome.value }

    #expect(try await cache.get("a", freshness: .atMost(.seconds(59))).valueIfAny == nil)
    #expect(try await cache.get("a", freshness: .atMost(.seconds(3_600))).valueIfAny != nil)
    #expect(try await cache.get("a", freshness: .cachedOnly).valueIfAny != nil)
    #expect(try await cache.get("a", freshness: .reload).valueIfAny == nil)
    #expect(try await cache.get("a", freshness: .any).valueIfAny != nil)
    try await outcome.value
  }

  @Test(arguments: [1 << 20, 100 << 20])
  func `a fill that is too large leaves no older value, also after a restart`(
    size: Int
  ) async throws {
    let calls = FaultyCalls()
    let cache = scene.open(1 << 20, calls)
    try await cache.set(Data("old"), for: "a").value

    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", Stamped(Data(count: size)), FillToken())))
    try await fill.ended()

    #expect(fill.failure is DiskError && fill.values.isEmpty)
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    // Without what a proper end writes, the log is read.
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(1 << 20).get("a").valueIfAny == nil)
  }

  @Test func `a fill that is too large and too late changes nothing`() async throws {
    let cache = scene.open(1 << 20)
    let token = FillToken()
    try await cache.set(Data("new"), for: "a").value

    _ = try? await cache.apply(.fill("a", Stamped(Data(count: 1 << 20)), token)).valueIfAny

    #expect(try await cache.get("a").value == Data("new"))
  }

  @Test func `a fill that can't be written leaves no older value, also after a restart`()
    async throws
  {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    try await cache.set(Data("old"), for: "a").value

    calls.inject(.error(.ENOSPC), of: [.write])
    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", Stamped(Data("new")), FillToken())))
    try await fill.ended()

    #expect(fill.failure != nil)
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(8)).get("a").valueIfAny == nil)
  }

  @Test func `a marked value is not fresh again when the one that replaces it can't be written`()
    async throws
  {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    let count = Locked(0)
    let origin = FunctionSource<String, Data> { _ in
      Data("\(count.withLock { count in count += 1; return count })")
    }
    let users = origin.remembered(
      in: cache, FreshnessPolicy(freshFor: .after(.seconds(3_600))))
    #expect(try await users.get("a").value == Data("1"))
    try await cache.flush().value
    users.markStale("a")

    calls.inject(.error(.ENOSPC), of: [.write])
    #expect(try await users.get("a").value == Data("2"))
    try await cache.flush().value

    #expect(try await users.get("a").value == Data("3"))
  }

  @Test func `a fill that can't be written leaves no older value that was evicted`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(1 << 20, calls)
    try await cache.set(Data("old"), for: "a").value
    for number in 0..<27 { cache.set(Data(count: 30_000), for: "\(number)") }
    try await cache.flush().value
    #expect(try await cache.get("a").valueIfAny == nil)

    calls.inject(.error(.ENOSPC), of: [.write])
    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill("a", Stamped(Data("new")), FillToken())))
    try await fill.ended()
    #expect(fill.failure != nil)
    try await cache.flush().value

    calls.die()
    try await cache.close().value
    #expect(try await scene.open(1 << 20).get("a").valueIfAny == nil)
  }

  @Test func `a removal that stands for a fill is tried again if it can't be written`() async throws
  {
    let calls = FaultyCalls()
    let cache = scene.open(1 << 20, calls)
    try await cache.set(Data("old"), for: "a").value

    calls.inject(.error(.ENOSPC), of: [.write])
    let fill = cache.apply(.fill("a", Stamped(Data(count: 1 << 20)), FillToken()))
    _ = try? await fill.valueIfAny
    // The first one may have begun before the removal failed.
    for _ in 0..<2 { try await cache.flush().value }

    calls.die()
    try await cache.close().value
    #expect(try await scene.open(1 << 20).get("a").valueIfAny == nil)
  }
}
