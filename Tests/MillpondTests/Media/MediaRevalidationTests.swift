import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Files that their origin confirms.
@Suite struct MediaRevalidationTests {
  private let scene = MediaScene()
  private let tooOld = Lookup(freshness: .atMost(.seconds(-1)))

  private func origin(_ body: [UInt8]) throws -> LoopbackServer {
    try LoopbackServer { request in
      request.headers["If-None-Match"] == "\"7\""
        ? Response(status: 304) : Response(headers: ["ETag": "\"7\""], body: body)
    }
  }

  @Test(arguments: [1_000, 200_000])
  func `a file that is too old is confirmed by its validator`(size: Int) async throws {
    let body = Array(MediaScene.film.prefix(size))
    let origin = try origin(body)
    let media = scene.media()
    let url = try origin.url("/film")
    _ = try await media.get(url).value
    let before = scene.valueNames

    let asked = try await media.getStamped(url, tooOld).value

    #expect(try Data(contentsOf: asked.value.url) == Data(body))
    #expect(asked.age == .zero && asked.value.age == .zero)
    #expect(
      origin.exchanges.map { $0.request.headers["If-None-Match"] } == [nil, "\"7\""])
    #expect(scene.valueNames == before)
  }

  @Test func `a file that expired is confirmed, also by ranges, and one that changed fetched`()
    async throws
  {
    let tag = Locked("\"7\"")
    let origin = try LoopbackServer { request in
      let tag = tag.withLock { $0 }
      return request.headers["If-None-Match"] == tag
        ? Response(status: 304) : Response(headers: ["ETag": tag], body: MediaScene.film)
    }
    let now = Locked(WallTime(microseconds: 1_000_000_000_000))
    let media = scene.media {
      $0.timeToLive = .after(.seconds(10))
      $0.now = { now.withLock { $0 } }
    }
    let url = try origin.url("/film")
    _ = try await media.get(url).value
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 11_000_000) }

    let confirmed = try await media.get(url).value
    #expect(try Data(contentsOf: confirmed.url) == Data(MediaScene.film))
    #expect(origin.exchanges.count == 2)
    _ = try await media.get(url).value
    #expect(origin.exchanges.count == 2)

    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 11_000_000) }
    tag.withLock { $0 = "\"8\"" }
    #expect(try await media.get(url).value.validator?.entityTag == "\"8\"")
    #expect(origin.exchanges.count == 3)
  }

  @Test(arguments: [1_000, 200_000])
  func `over a cache of responses a file is kept for as long as its origin says`(size: Int)
    async throws
  {
    let body = Array(MediaScene.film.prefix(size))
    let origin = try LoopbackServer { request in
      let isKept = request.path == "/kept"
      return Response(headers: ["Cache-Control": isKept ? "max-age=60" : "no-store"], body: body)
    }
    let now = Locked(WallTime(microseconds: 1_000_000_000_000))
    let responses = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let media = scene.media(
      over: HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: responses))
    ) { $0.now = { now.withLock { $0 } } }

    let kept = try await media.get(origin.url("/kept")).value
    let secret = try await media.get(origin.url("/secret")).value

    #expect(try Data(contentsOf: kept.url) == Data(body))
    #expect(try Data(contentsOf: secret.url) == Data(body))
    #expect(secret.timeToLive == .after(.zero))
    guard case .after(let rest) = kept.timeToLive else {
      Issue.record("no time to live")
      return
    }
    #expect(rest > .zero && rest <= .seconds(60))
    for (path, isStored) in [("/kept", true), ("/secret", false)] {
      let stored = try await media.get(origin.url(path), freshness: .cachedOnly).valueIfAny
      #expect((stored != nil) == isStored)
    }
    now.withLock { $0 = WallTime(microseconds: $0.microseconds + 61_000_000) }
    #expect(try await media.get(origin.url("/kept"), freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `a file without a validator is fetched anew`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    _ = try await media.get(url).value

    _ = try await media.getStamped(url, tooOld).value

    #expect(origin.exchanges.count == 2)
    #expect(origin.exchanges.allSatisfy { $0.request.headers["If-None-Match"] == nil })
  }
}
