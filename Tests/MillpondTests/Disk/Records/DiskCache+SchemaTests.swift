import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheSchemaTests {
  let scene = DiskScene()

  private struct Refused: Error {}

  /// Not a secret; but on disk it is something else.
  private let sealing = DiskSealing(
    seal: { value, key in Data(value.map { ~$0 }) + Data(key.utf8) },
    open: { sealed, key in
      guard sealed.suffix(key.utf8.count) == Data(key.utf8) else { throw Refused() }
      return Data(sealed.dropLast(key.utf8.count).map { ~$0 })
    })

  private func form(
    _ schema: DiskSchema, _ sealing: DiskSealing? = nil
  ) -> (inout DiskOptions) -> Void {
    { $0.form = DiskValueFormat(schema: schema, sealing: sealing) }
  }

  private func open(
    _ schema: DiskSchema = .unversioned, _ sealing: DiskSealing? = nil
  ) -> DiskCache {
    scene.open(.mebibytes(8), POSIXCalls(), form(schema, sealing))
  }

  private func leave(_ cache: DiskCache) async throws {
    try await cache.flush().value
    try await cache.close().value
  }

  // MARK: - Schema

  @Test(arguments: [10, 100_000])
  func `a value of another schema is a miss`(count: Int) async throws {
    let old = open(DiskSchema(version: 1))
    old.set(Data(repeating: 1, count: count), for: "a")
    try await leave(old)

    let new = open(DiskSchema(version: 2))

    #expect(try await new.get("a").valueIfAny == nil)
    new.set(Data("new"), for: "a")
    #expect(try await new.get("a").value == Data("new"))
  }

  @Test func `a migration makes the old form into the new one`() async throws {
    let old = open(DiskSchema(version: 1))
    old.set(Data("old"), for: "a")
    try await leave(old)

    let new = open(
      DiskSchema(version: 3) { value, version in value + Data(" \(version)") })

    #expect(try await new.get("a").value == Data("old 1"))
    new.set(Data("new"), for: "a")
    try await new.flush().value
    #expect(try await new.get("a").value == Data("new"))
  }

  @Test func `a migration that fails, or has nothing, is a miss`() async throws {
    let old = open(DiskSchema(version: 1))
    old.set(Data("a"), for: "a")
    old.set(Data("b"), for: "b")
    try await leave(old)

    let new = open(
      DiskSchema(version: 2) { value, _ in
        if value == Data("a") { throw Refused() }
        return nil
      })

    #expect(try await new.get("a").valueIfAny == nil)
    #expect(try await new.get("b").valueIfAny == nil)
  }

  @Test func `caches of one folder have to agree about the form`() async throws {
    let first = open(DiskSchema(version: 1))
    try await first.flush().value

    let second = DiskCache(
      directory: scene.folder, byteLimit: first.options.byteLimit, policy: .leastRecentlyUsed,
      schema: DiskSchema(version: 2))

    #expect(try await failure(of: second.get("a"))?.isInUse == true)
  }

  // MARK: - Sealing

  @Test(arguments: [0, 10, 5_000, 100_000])
  func `a sealed value is opened again, and is not to be read on disk`(count: Int) async throws {
    let value = Data(repeating: 0x41, count: count)
    let cache = open(.unversioned, sealing)
    cache.set(value, for: "a")
    try await leave(cache)

    let plain = Data(repeating: 0x41, count: 10)
    for name in scene.names {
      #expect(try Data(contentsOf: scene.url(name)).range(of: plain) == nil)
    }
    #expect(try await open(.unversioned, sealing).get("a").value == value)
  }

  @Test func `a value that cannot be sealed fails the set, and the old value stays`() async throws {
    let cache = open(
      .unversioned,
      DiskSealing(
        seal: { value, _ in
          if value.isEmpty { throw Refused() }
          return value
        }, open: { value, _ in value }))
    cache.set(Data("old"), for: "a")
    cache.set(Data("other"), for: "b")
    try await cache.flush().value

    let problem = try await failure(of: cache.set(Data(), for: "a"))

    guard case .failed(scene.folder.path, "a", let underlying) = problem?.diskError else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(underlying is Refused)
    #expect(try await cache.get("a").value == Data("old"))
    #expect(try await cache.get("b").value == Data("other"))
  }

  @Test func `a value that cannot be opened is a miss`() async throws {
    let cache = open(.unversioned, sealing)
    cache.set(Data("a"), for: "a")
    try await leave(cache)

    let other = open(
      .unversioned, DiskSealing(seal: { value, _ in value }, open: { _, _ in throw Refused() }))

    #expect(try await other.get("a").valueIfAny == nil)
  }

  // MARK: - Time

  @Test func `a value lives as long as the cache says, or as its own time to live says`()
    async throws
  {
    let now = Locked(WallTime(microseconds: 1_000_000_000_000))
    let cache = scene.open(.mebibytes(1), POSIXCalls()) {
      $0.timeToLive = .after(.seconds(10))
      $0.now = { now.withLock { $0 } }
    }
    cache.set(Data("ten"), for: "ten")
    cache.set(Data("twenty"), for: "twenty", timeToLive: .after(.seconds(20)))
    cache.set(Data("ever"), for: "ever", timeToLive: .forever)
    try await cache.flush().value
    cache.set(Data("waits"), for: "waits")

    func present() async throws -> [String] {
      var found: [String] = []
      for key in ["ten", "twenty", "ever", "waits"] {
        if try await cache.get(key).valueIfAny != nil { found.append(key) }
      }
      return found
    }

    #expect(try await present() == ["ten", "twenty", "ever", "waits"])
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 9_999_999) }
    #expect(try await present() == ["ten", "twenty", "ever", "waits"])
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 1) }
    #expect(try await present() == ["twenty", "ever"])
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 10_000_000) }
    #expect(try await present() == ["ever"])
    #expect(await cache.openStatistics().expirations >= 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `a value that expires at once is not kept, nor is the former one`(
    duration: Duration
  ) async throws {
    let cache = open()
    cache.set(Data("old"), for: "a")

    cache.set(Data("new"), for: "a", timeToLive: .after(duration))

    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test func `a value from the future does not stay fresh for ever`() async throws {
    let now = Locked(WallTime(microseconds: 2_000_000_000_000_000))
    let cache = scene.open(.mebibytes(1), POSIXCalls()) {
      $0.timeToLive = .after(.seconds(10))
      $0.now = { now.withLock { $0 } }
    }
    cache.set(Data("a"), for: "a")
    try await cache.flush().value

    now.withLock { $0 = WallTime(microseconds: 1_000_000_000_000_000) }

    #expect(try await cache.get("a").valueIfAny == nil)
  }
}
