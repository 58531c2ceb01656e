import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Answers that are not stored themselves, and what they change of that which is.
@Suite struct HTTPCacheUpdateTests {
  private static let fields = "max-age=60 | ETag: \"a\""

  private func request(_ method: String, _ fields: String = "") throws -> HTTPRequest {
    HTTPRequest(
      url: try HTTPCacheScene.request().url, method: HTTPMethod(method),
      headers: CachingRow.fields(fields))
  }

  /// A cache with a response that is stale at second 60, its present time.
  private func staleScene(
    _ answer: @escaping @Sendable () -> ScriptedOrigin.Answer
  ) async throws -> HTTPCacheScene {
    let scene = HTTPCacheScene { _, number in number == 1 ? .ok(Self.fields) : answer() }
    _ = try await scene.send()
    scene.at(60)
    return scene
  }

  // MARK: Ranges and storing

  @Test func `a 416 does not take the place of the whole response`() async throws {
    let scene = try await staleScene { .status(416, "max-age=60 | Content-Range: bytes */4") }

    #expect(try await scene.send("Range: bytes=9-") == "416")

    #expect(try await scene.send("only-if-cached, max-stale") == "200 age 60 body")
  }

  // MARK: Redirects

  @Test(arguments: [200, 404, 500])
  func `a change that was redirected makes only what is stored of its own URL invalid`(
    status: Int
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .get
        ? .ok("max-age=60")
        : .init(status: status, fields: "Location: /b | Content-Location: /b", isRedirected: true)
    }
    for path in ["/a", "/b"] { _ = try await scene.send(path: path) }
    let answer = scene.cache.send(try request("POST"))

    #expect(try await HTTPCacheScene.answer(answer) == "\(status)")

    #expect(try await scene.send("only-if-cached", path: "/a") == "504")
    #expect(try await scene.send("only-if-cached", path: "/b") == "200 age 0 body")
  }
}
