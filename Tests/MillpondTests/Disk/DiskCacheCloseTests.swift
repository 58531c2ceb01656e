import Foundation
import Millpond
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DiskCacheCloseTests {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-close-\(UUID().uuidString)", isDirectory: true)

  private func cache(limit: Int = 1_000_000) -> DiskCache {
    DiskCache(directory: folder, byteLimit: limit)
  }

  @Test func `a closed folder can be opened with another limit, and has the earlier writes`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = cache()
    first.set(Data("x".utf8), for: "a")

    try await first.close().value
    let second = cache(limit: 2_000_000)

    #expect(try await second.get("a").value == Data("x".utf8))
    try await second.close().value
  }

  @Test func `a closed cache refuses gets and writes with an error that says so`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let closed = cache()
    try await closed.close().value

    await #expect(throws: CacheError.self) { try await closed.get("a").valueIfAny }
    await #expect(throws: CacheError.self) { try await closed.set(Data(), for: "a").value }
    await #expect(throws: CacheError.self) { try await closed.flush(.synchronized).value }
    try await closed.flush().value
    try await closed.close().value
  }

  @Test func `closing before the folder is open waits for it`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = cache()
    let outcome = first.set(Data("x".utf8), for: "a")
    let closed: Signal<Void> = first.close()

    try await closed.value
    try await outcome.value
    #expect(try await cache(limit: 5_000).get("a").value == Data("x".utf8))
  }

  @Test func `a write after the call of close fails, also if the folder is not open yet`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    for _ in 0..<20 {
      let closing = cache()
      let closed: Signal<Void> = closing.close()

      let set = Recorder<Void>().subscribe(to: closing.set(Data("x".utf8), for: "a"))
      let get = Recorder<Data>().subscribe(to: closing.get("a"))

      #expect(set.failure is CacheError && get.failure is CacheError)
      try await closed.value
    }
    #expect(try await cache(limit: 5_000).get("a").valueIfAny == nil)
  }

  @Test func `a closed cache refuses gets from the observer of its closing`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for _ in 0..<20 {
      let closing = cache()
      let get = Recorder<Data>()
      let end = Recorder<Void>().subscribe(to: closing.close()) { event in
        if case .completed = event { get.subscribe(to: closing.get("a")) }
      }
      try await end.ended()
      try await get.ended()

      #expect(get.failure is CacheError)
    }
  }

  @Test func `every close waits until the folder has been left`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let closing = cache()
    closing.set(Data("x".utf8), for: "a")
    closing.close().subscribe()

    try await closing.close().value

    let other = cache(limit: 5_000)
    #expect(try await other.get("a").value == Data("x".utf8))
    try await closing.close().value
  }
}
