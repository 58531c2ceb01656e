import Foundation
import LoopbackServer
import Millpond
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Counts the body bytes that move when a value of a megabyte that did not change is requested
/// again.
func measureValidation(_ effort: NetworkEffort) throws -> NetworkFigures {
  let origin = BrowsedOrigin()
  let cache = HTTPCache(
    over: origin, in: MemoryCache<String, HTTPCacheRecord>(countLimit: 100))
  let url = try address("/large")
  _ = waitForBytes(HTTPSource(transport: cache).pieces(of: url))
  let before = origin.sentBytes
  let count = waitForBytes(HTTPSource(transport: cache).pieces(of: url))
  return NetworkFigures(
    ours: Double(origin.sentBytes - before), bare: Double(count),
    isSumRight: count == 1 << 20 && origin.requests == 2)
}

/// Counts the requests and the kilobytes of a visit to twenty pages, with and without a cache.
func measureBrowsing() throws -> (requests: NetworkFigures, kilobytes: NetworkFigures) {
  let cached = BrowsedOrigin()
  let bare = BrowsedOrigin()
  let time = BrowsingTime()
  let cache = HTTPCache(
    over: cached, in: MemoryCache<String, HTTPCacheRecord>(countLimit: 1_000),
    now: { time.date })
  let sources = [HTTPSource(transport: cache), HTTPSource(transport: bare)]
  var counts = [0, 0]
  for visit in 0..<20 {
    for path in visitedPaths(visit) {
      let url = try address(path)
      for (index, source) in sources.enumerated() {
        counts[index] += waitForBytes(source.pieces(of: url))
      }
    }
    time.seconds.add(60, ordering: .relaxed)
  }
  let isSumRight = counts[0] == counts[1] && bare.sentBytes == counts[1] && bare.requests == 260
  return (
    NetworkFigures(
      ours: Double(cached.requests), bare: Double(bare.requests), isSumRight: isSumRight),
    NetworkFigures(
      ours: Double(cached.sentBytes) / 1_024, bare: Double(bare.sentBytes) / 1_024,
      isSumRight: isSumRight)
  )
}

/// Counts the requests of the same visits, at once and of a server, beside a `URLSession` that has
/// a `URLCache`.
///
/// A `URLCache` has no clock to set, so nothing becomes stale here but the pages, which it should
/// validate.
func measureBrowsingBesideURLCache() throws -> NetworkFigures {
  let sites = try (0..<2).map { _ in try LoopbackServer.browsed() }
  defer { for site in sites { site.stop() } }
  let cache = HTTPCache(
    over: URLSessionTransport(), in: MemoryCache<String, HTTPCacheRecord>(countLimit: 1_000))
  let source = HTTPSource(transport: cache)
  let session = BareSession(
    gathers: false, cache: URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: nil))
  defer { session.close() }
  var counts = [0, 0]
  for path in (0..<20).flatMap({ visitedPaths($0) }) {
    counts[0] += waitForBytes(source.pieces(of: try sites[0].url(path)))
    counts[1] += session.get(try sites[1].url(path))
  }
  return NetworkFigures(
    ours: Double(sites[0].exchanges.count), bare: Double(sites[1].exchanges.count),
    isSumRight: counts[0] == counts[1])
}

/// The files of a visit: ten pages, each visited twice, one visit a minute.
private func visitedPaths(_ visit: Int) -> [String] {
  let page = (visit * 7) % 10
  return ["/page/\(page)", "/api/news", "/style.css", "/script.js", "/font.woff"]
    + (0..<8).map { "/image/\((page * 3 + $0) % 24)" }
}

private func address(_ path: String) throws -> URL {
  guard let url = URL(string: "https://example.org" + path) else { throw URLError(.badURL) }
  return url
}

private final class BrowsingTime: Sendable {
  let seconds = Atomic(1_767_225_600)
  var date: Date { Date(timeIntervalSince1970: Double(seconds.load(ordering: .relaxed))) }
}

/// An origin in this process that caches as sites do: pages are validated, files with a hash in
/// their name are immutable, images are fresh for ten minutes, and news is not stored.
private final class BrowsedOrigin: HTTPTransport {
  private let count = Atomic(0)
  private let bytes = Atomic(0)

  var requests: Int { count.load(ordering: .relaxed) }
  var sentBytes: Int { bytes.load(ordering: .relaxed) }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .deferred {
      self.count.add(1, ordering: .relaxed)
      let path = request.url.path()
      let (control, size) = terms(of: path)
      let tag = "\"\(path)\""
      let headers: HeaderFields = ["Cache-Control": control, "ETag": tag]
      if request.headers["If-None-Match"] == tag {
        return .just(.head(HTTPHead(status: 304, headers: headers)))
      }
      self.bytes.add(size, ordering: .relaxed)
      return .from([
        .head(HTTPHead(status: 200, headers: headers)), .body(Data(repeating: 1, count: size)),
      ])
    }
  }
}

private func terms(of path: String) -> (control: String, size: Int) {
  if path.hasPrefix("/image") { return ("max-age=600", 60 << 10) }
  if path.hasPrefix("/page") { return ("no-cache", 30 << 10) }
  if path.hasPrefix("/api") { return ("no-store", 4 << 10) }
  if path == "/large" { return ("no-cache", 1 << 20) }
  return ("max-age=31536000, immutable", 80 << 10)
}

extension LoopbackServer {
  /// Makes a server of the same files.
  fileprivate static func browsed() throws -> LoopbackServer {
    try LoopbackServer { request in
      let (control, size) = terms(of: request.path)
      let tag = "\"\(request.path)\""
      let headers: Headers = ["Cache-Control": control, "ETag": tag]
      if request.headers["If-None-Match"] == tag { return Response(status: 304, headers: headers) }
      return Response(headers: headers, body: [UInt8](repeating: 1, count: size))
    }
  }
}
