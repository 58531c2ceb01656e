import Foundation
import MillpondCore
import MillpondSignals
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
}
