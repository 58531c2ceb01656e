import Foundation
import Millpond
import Testing

@Suite struct DiskCacheCloseTests {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-close-\(UUID().uuidString)", isDirectory: true)

  private func cache(limit: Int = 1_000_000) -> DiskCache {
    DiskCache(directory: folder, byteLimit: limit)
  }

  @Test func `a closed folder can be opened with another limit, and has what was told`()
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

  @Test func `a closed cache says so to whoever asks or tells`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let closed = cache()
    try await closed.close().value

    await #expect(throws: CacheError.self) { try await closed.get("a").valueIfAny }
    await #expect(throws: CacheError.self) { try await closed.set(Data(), for: "a").value }
    try await closed.close().value
  }

  @Test func `closing before the folder is open waits for it`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = cache()
    let told = first.set(Data("x".utf8), for: "a")
    let closed = first.close()

    try await closed.value
    try await told.value
    #expect(try await cache(limit: 5_000).get("a").value == Data("x".utf8))
  }
}
