import Foundation
import LoopbackServer
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Downloads through an HTTP cache over memory and disk that are interrupted, and origins that lie
/// about what is stored.
@Suite struct HTTPCacheInterruptionTests {
  private let scene = MediaScene()
  private static let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
  private static let half = 100_000

  private func disk() -> DiskCache {
    DiskCache(directory: scene.folder, byteLimit: .mebibytes(16))
  }

  private func cache(in disk: DiskCache) -> HTTPCache {
    let memory = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let store = memory.layered(over: disk.mapValues(.httpRecords))
    return HTTPCache(over: URLSessionTransport(), in: store)
  }

  private func cached(in disk: DiskCache) -> HTTPSource<URL> {
    HTTPSource(transport: cache(in: disk))
  }

  /// An origin that resets the connection in the middle of the first body.
  private func origin(
    rest: @escaping @Sendable (Request) -> Response = { _ in Self.rest(tag: "\"1\"") }
  ) throws -> LoopbackServer {
    let isFirst = Locked(true)
    return try LoopbackServer { request in
      if isFirst.withLock({ exchange(&$0, with: false) }) {
        return .scripted([
          .text(
            "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: max-age=600\r\n"
              + "Content-Length: \(Self.body.count)\r\n\r\n"),
          .send(Array(Self.body.prefix(Self.half))), .close,
        ])
      }
      return request.headers["Range"] == nil
        ? Response(headers: ["ETag": "\"2\"", "Cache-Control": "max-age=600"], body: [1, 2])
        : rest(request)
    }
  }

  private static func rest(tag: String) -> Response {
    Response(
      status: 206,
      headers: [
        "ETag": tag, "Content-Range": "bytes \(half)-\(body.count - 1)/\(body.count)",
        "Cache-Control": "max-age=600",
      ], body: Array(body.dropFirst(half)))
  }

  @Test func `an interrupted download is continued after a restart, and stored as a whole`()
    async throws
  {
    let origin = try origin()
    let url = try origin.url("/film")
    let before = disk()
    await #expect(throws: (any Error).self) { try await cached(in: before).get(url).value }
    try await before.close().value

    let after = disk()
    let source = cached(in: after)
    for _ in 0..<2 { #expect(try await source.get(url).value == Data(Self.body)) }

    let asked = origin.exchanges.map(\.request)
    #expect(asked.map { $0.headers["Range"] } == [nil, "bytes=\(Self.half)-"])
    #expect(asked.last?.headers["If-Range"] == "\"1\"")
    try await after.close().value
  }

  @Test func `a download that its caller leaves is continued by the next one`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Response(headers: ["ETag": "\"1\"", "Cache-Control": "max-age=600"], body: Self.body)
          .held(by: hold, afterBodyBytes: Self.half) : Self.rest(tag: "\"1\"")
    }
    let url = try origin.url("/film")
    let disk = disk()
    let cache = cache(in: disk)
    let source = HTTPSource(transport: cache)
    let count = Locked(0)
    let hasHalf = TestSource<Void>()
    let arrived = Recorder<Void>().subscribe(to: hasHalf.signal)
    let leaving = source.pieces(of: url).subscribe(onNext: { piece in
      let all = count.withLock { count in
        count += piece.count
        return count
      }
      if all >= Self.half { hasHalf.completed() }
    })
    try await arrived.ended()
    leaving.dispose()
    // The store looks on the disk first.
    while try await cache.decision(for: HTTPRequest(url: url)).value.reason != .incomplete {
      await Task.yield()
    }

    #expect(try await source.get(url).value == Data(Self.body))

    #expect(origin.exchanges.last?.request.headers["Range"] == "bytes=\(Self.half)-")
    hold.release()
    try await disk.close().value
  }

  @Test func `a rest of something else is not combined, and the whole is fetched`() async throws {
    let origin = try origin(rest: { _ in Self.rest(tag: "\"2\"") })
    let url = try origin.url("/film")
    let disk = disk()
    let source = cached(in: disk)
    await #expect(throws: (any Error).self) { try await source.get(url).value }

    for _ in 0..<2 { #expect(try await source.get(url).value == Data([1, 2])) }

    #expect(origin.exchanges.count == 3)
    try await disk.close().value
  }

  @Test func `a 304 that was not asked for is a failure, and nothing is stored`() async throws {
    let origin = try LoopbackServer { _ in
      Response(status: 304, headers: ["Cache-Control": "max-age=600"])
    }
    let disk = disk()
    let source = cached(in: disk)

    for _ in 0..<2 {
      let outcome = try await Recorder.outcome(of: source, origin.url("/a"))
      #expect(outcome.failureInWords == "status 304")
    }

    #expect(origin.exchanges.count == 2)
    try await disk.close().value
  }

  @Test func `many callers of a stale response in memory and on disk share one validation`()
    async throws
  {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      let fields: Headers = ["ETag": "\"1\"", "Cache-Control": "no-cache"]
      return request.headers["If-None-Match"] == nil
        ? Response(headers: fields, body: Self.body)
        : Response(status: 304, headers: fields).held(by: hold)
    }
    let url = try origin.url("/a")
    let disk = disk()
    let source = cached(in: disk)
    _ = try await source.get(url).value

    let callers = (0..<50).map { _ in Recorder<Data>().subscribe(to: source.get(url)) }
    #expect(await origin.eventually { $0.exchanges.count == 2 })
    hold.release()
    for caller in callers { try await caller.ended() }

    #expect(callers.allSatisfy { $0.values == [Data(Self.body)] })
    #expect(origin.exchanges.count == 2)
    try await disk.close().value
  }
}
