import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The code of the page about HTTP caching, and its promises.
@Suite(.timeLimit(.minutes(3))) struct HTTPCachingPageTests {
  // snippet
  func photoSource(in disk: DiskCache) -> HTTPSource<URL> {
    HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: disk))
  }
  // end

  // snippet
  func fastPhotoSource(in disk: DiskCache) -> HTTPSource<URL> {
    let memory = MemoryCache<String, HTTPCacheRecord>(
      costLimit: .mebibytes(16), cost: \.byteCount)
    let responses = memory.layered(over: disk.mapValues(.httpRecords))
    return HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: responses))
  }
  // end

  // snippet
  func explain(_ url: URL, in cache: HTTPCache) async throws -> String {
    let decision = try await cache.decision(for: HTTPRequest(url: url)).value
    return "\(decision)"  // "validate: it is stale (RFC 9111 §4.2)"
  }
  // end

  // snippet
  func loggingCache(in disk: DiskCache, log: @escaping @Sendable (String) -> Void) -> HTTPCache {
    HTTPCache(over: URLSessionTransport(), in: disk) { request, decision in
      log("\(request.url.path()): \(decision)")
    }
  }
  // end

  // snippet
  func isStorable(_ head: HTTPHead, for request: HTTPRequest) -> Bool {
    HTTPCacheRules.standard.storage(of: head, for: request).action == .store
  }
  // end

  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  private func origin() throws -> LoopbackServer {
    try LoopbackServer { request in
      let headers: Headers = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
      return request.headers["If-None-Match"] == nil
        ? Response(headers: headers, body: [1, 2, 3]) : Response(status: 304, headers: headers)
    }
  }

  @Test func `both sources validate what is stale`() async throws {
    let origin = try origin()
    let url = try #require(URL(string: origin.baseURL + "/photo"))
    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    defer { try? FileManager.default.removeItem(at: folder) }

    for source in [photoSource(in: disk), fastPhotoSource(in: disk)] {
      #expect(try await source.get(url).value == Data([1, 2, 3]))
    }

    #expect(origin.exchanges.map(\.request.headers["If-None-Match"]) == [nil, "\"1\""])
    try await disk.close()
  }

  @Test func `a cache says why`() async throws {
    let origin = try origin()
    let url = try #require(URL(string: origin.baseURL + "/photo"))
    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = SignalLines()
    let cache = loggingCache(in: disk) { lines.add($0) }

    _ = try await HTTPSource(transport: cache).get(url).value

    #expect(try await explain(url, in: cache) == "validate: it is stale (RFC 9111 §4.2)")
    #expect(
      lines.all == [
        "/photo: forward: nothing is stored (RFC 9111 §4)",
        "/photo: store: the origin states for how long it is fresh (RFC 9111 §4.2.1)",
      ])
    #expect(isStorable(HTTPHead(status: 200), for: HTTPRequest(url: url)))
    #expect(!isStorable(HTTPHead(status: 500), for: HTTPRequest(url: url)))
    try await disk.close()
  }
}

/// The lines that a closure receives.
private final class SignalLines: Sendable {
  private let lines = Locked<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}
