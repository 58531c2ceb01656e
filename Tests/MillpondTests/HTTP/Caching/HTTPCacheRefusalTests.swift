import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Answers such as 404 below an `HTTPSource`, which fails at their heads.
@Suite struct HTTPCacheRefusalTests {
  private static func source(_ scene: HTTPCacheScene) -> HTTPSource<URL> {
    HTTPSource(transport: scene.cache, clock: ManualClock())
  }

  private func get(
    _ source: HTTPSource<URL>, _ freshness: Freshness = .any
  ) async throws -> Recorder<Data> {
    try await Recorder.outcome(
      of: source, HTTPCacheScene.request().url, Lookup(freshness: freshness))
  }

  @Test(arguments: [404, 405, 410, 414, 501, 500])
  func `a refusal with a life is stored, and fails gets as one that comes from the cache`(
    status: Int
  ) async throws {
    let scene = HTTPCacheScene { _, _ in .status(status, "max-age=60", "gone") }
    let source = Self.source(scene)

    let first = try await get(source)
    scene.at(12)
    let second = try await get(source)

    #expect(scene.origin.count == 1)
    #expect([first, second].map(\.failureInWords) == ["status \(status)", "status \(status)"])
    #expect([first, second].map { ($0.failure as? TransferError)?.isFromCache } == [false, true])
    #expect("\(second.failure as Any)".contains("stored 12 seconds ago"))
    #expect(scene.newReasons() == [.nothingStored, .statedFreshness, .fresh])
  }

  @Test func `what waits for a stored refusal to end counts from its arrival`() async throws {
    let scene = HTTPCacheScene { _, _ in .status(503, "max-age=60 | Retry-After: 50") }
    let source = Self.source(scene)

    _ = try await get(source)
    scene.at(12)
    let error = try await get(source).failure as? TransferError

    #expect(error?.retryDelay == .seconds(38))
  }

  @Test(arguments: [403, 404, 410, 451], ["", "no-store", "max-age=1"])
  func `what is gone or refused is no answer once the origin is down`(
    status: Int, fields: String
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      switch number {
      case 1: .ok("max-age=1, stale-if-error=1000 | ETag: \"1\"")
      case 2: .status(status, fields, "gone")
      default: .status(503)
      }
    }
    let source = Self.source(scene)
    #expect(try await get(source).values == [Data("body".utf8)])
    scene.at(2)

    #expect(try await get(source).failureInWords == "status \(status)")
    scene.at(4)

    #expect(try await get(source).failureInWords == "status 503")
    #expect(scene.origin.count == 3)
  }

  @Test(arguments: [("HEAD", ""), ("GET", "If-None-Match: \"2\""), ("GET", "Range: bytes=0-1")])
  func `a request for something else learns as well that the resource is gone`(
    method: String, fields: String
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .ok("max-age=1, stale-if-error=1000") : .status(number == 2 ? 410 : 503)
    }
    _ = try await scene.send()
    scene.at(2)
    let request = HTTPRequest(
      url: try HTTPCacheScene.request().url, method: HTTPMethod(method),
      headers: CachingRow.fields(fields))

    #expect(try await HTTPCacheScene.answer(scene.cache.send(request)) == "410")

    #expect(try await scene.send() == "503")
  }

  @Test func `a refusal that breaks off is not stored, and removes what it shows to be gone`()
    async throws
  {
    let scene = HTTPCacheScene { _, number in
      switch number {
      case 1: .ok("max-age=1, stale-if-error=1000")
      case 2:
        .init(
          status: 410, fields: "max-age=60", body: "go",
          failure: URLError(.networkConnectionLost))
      default: .status(503)
      }
    }
    let source = Self.source(scene)
    _ = try await get(source)
    scene.at(2)
    _ = scene.newReasons()

    #expect(try await get(source).failureInWords == "status 410")
    #expect(scene.newReasons() == [.stale, .notWhole])

    #expect(try await get(source).failureInWords == "status 503")
  }

  @Test func `a refusal beyond the limit is passed on and not stored`() async throws {
    let scene = HTTPCacheScene(byteLimit: 3) { _, _ in .status(404, "max-age=60", "long") }

    for _ in 0..<2 { #expect(try await scene.send() == "404 lo ng") }

    #expect(scene.newReasons() == [.nothingStored, .tooLarge, .nothingStored, .tooLarge])
  }

  // MARK: Answers that are not stored here

  @Test(arguments: [
    ("POST", "", "no-store", 0), ("POST", "", "max-age=60", 60),
    ("GET", "If-None-Match: \"1\"", "no-store", 0),
    ("GET", "If-None-Match: \"1\"", "max-age=60", 60), ("GET", "no-store", "max-age=60", 0),
  ])
  func `layers above learn how long an answer that is not stored may be kept`(
    method: String, request: String, answer: String, seconds: Int
  ) async throws {
    let scene = HTTPCacheScene { _, _ in .ok(answer) }
    let url = try HTTPCacheScene.request().url
    let source = HTTPSource(transport: scene.cache, clock: ManualClock()) { (_: Int) in
      HTTPRequest(url: url, method: HTTPMethod(method), headers: CachingRow.fields(request))
        .assumedSafe()
    }

    let value = try await source.getStamped(1, Lookup()).value

    #expect(value.timeToLive == .after(.seconds(seconds)))
  }
}
