import Foundation
import LoopbackServer
import Millpond

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Counts the body bytes that move when a value of a megabyte that did not change is requested
/// again.
func measureValidation(_ run: Run, _ sample: inout Sample) throws {
  let origin = try LoopbackServer.browsed()
  let source = HTTPSource(transport: cache(now: Date.init))
  let url = try origin.url("/large")
  _ = waitForBytes(source.pieces(of: url))
  let before = origin.bodyBytes
  let count = waitForBytes(source.pieces(of: url))
  sample.value = Double(origin.bodyBytes - before)
  sample.floors = [Sample.Floor(name: "a fetch", value: Double(count))]
  sample.isSumRight = count == 1 << 20 && origin.exchanges.count == 2
}

/// Counts the requests and the kilobytes of a visit to twenty pages, a minute each, with and without
/// a cache.
func measureBrowsing(_ run: Run, _ report: (Sample) -> Void) throws {
  let (cached, bare) = (try LoopbackServer.browsed(), try LoopbackServer.browsed())
  let minutes = Kept(0)
  let source = HTTPSource(
    transport: cache { Date(timeIntervalSince1970: 1_767_225_600 + Double(minutes.value) * 60) })
  var counts = [0, 0]
  for visit in 0..<20 {
    minutes.value = visit
    for path in visitedPaths(visit) {
      counts[0] += waitForBytes(source.pieces(of: try cached.url(path)))
      counts[1] += waitForBytes(HTTPSource().pieces(of: try bare.url(path)))
    }
  }
  let isSumRight =
    counts[0] == counts[1] && bare.bodyBytes == counts[1] && bare.exchanges.count == 260
  report(
    Sample(
      name: "network-browsing-requests", summary: "requests for 20 pages with their files",
      unit: "", value: Double(cached.exchanges.count),
      floors: [Sample.Floor(name: "no cache", value: Double(bare.exchanges.count))],
      targets: [Target(atMost: 130)], isSumRight: isSumRight))
  report(
    Sample(
      name: "network-browsing-bytes", summary: "body bytes for 20 pages with their files",
      unit: "KiB", value: Double(cached.bodyBytes) / 1_024,
      floors: [Sample.Floor(name: "no cache", value: Double(bare.bodyBytes) / 1_024)],
      targets: [Target(atMost: 4_000)], isSumRight: isSumRight))
}

/// Counts the requests of the same visits, at once, beside a `URLSession` that has a `URLCache`.
///
/// A `URLCache` has no clock to set, so nothing becomes stale here but the pages, which it should
/// validate.
func measureBrowsingBesideURLCache(_ run: Run, _ sample: inout Sample) throws {
  let sites = try (0..<2).map { _ in try LoopbackServer.browsed() }
  let source = HTTPSource(transport: cache(now: Date.init))
  let session = BareSession(
    gathers: false, cache: URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: nil))
  defer { session.close() }
  var counts = [0, 0]
  for path in (0..<20).flatMap({ visitedPaths($0) }) {
    counts[0] += waitForBytes(source.pieces(of: try sites[0].url(path)))
    counts[1] += session.get(try sites[1].url(path))
  }
  sample.value = Double(sites[0].exchanges.count)
  sample.floors = [Sample.Floor(name: "URLCache", value: Double(sites[1].exchanges.count))]
  sample.isSumRight = counts[0] == counts[1]
}

private func cache(now: @escaping @Sendable () -> Date) -> some HTTPTransport {
  HTTPCache(
    over: URLSessionTransport(), in: MemoryCache<String, HTTPCacheRecord>(countLimit: 1_000),
    now: now)
}

/// The files of a visit: ten pages, each visited twice, one visit a minute.
private func visitedPaths(_ visit: Int) -> [String] {
  let page = (visit * 7) % 10
  return ["/page/\(page)", "/api/news", "/style.css", "/script.js", "/font.woff"]
    + (0..<8).map { "/image/\((page * 3 + $0) % 24)" }
}

private func terms(of path: String) -> (control: String, size: Int) {
  if path.hasPrefix("/image") { return ("max-age=600", 60 << 10) }
  if path.hasPrefix("/page") { return ("no-cache", 30 << 10) }
  if path.hasPrefix("/api") { return ("no-store", 4 << 10) }
  if path == "/large" { return ("no-cache", 1 << 20) }
  return ("max-age=31536000, immutable", 80 << 10)
}

extension LoopbackServer {
  /// Makes an origin that caches as sites do: pages are validated, files with a hash in their name
  /// are immutable, images are fresh for ten minutes, and news is not stored.
  fileprivate static func browsed() throws -> LoopbackServer {
    try LoopbackServer { request in
      let (control, size) = terms(of: request.path)
      let tag = "\"\(request.path)\""
      let headers: Headers = ["Cache-Control": control, "ETag": tag]
      if request.headers["If-None-Match"] == tag { return Response(status: 304, headers: headers) }
      return Response(headers: headers, body: [UInt8](repeating: 1, count: size))
    }
  }
  /// The bytes of all bodies that were asked for in full: noted before a body is sent, so that none
  /// is missing when the client has it.
  fileprivate var bodyBytes: Int {
    exchanges.reduce(0) { sum, exchange in
      let isCondition = exchange.request.headers["If-None-Match"] != nil
      return sum + (isCondition ? 0 : terms(of: exchange.request.path).size)
    }
  }
}
