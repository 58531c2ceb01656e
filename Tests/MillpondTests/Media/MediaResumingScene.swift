import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting

@testable import Millpond

/// An origin of one film that breaks off the first time and knows ranges, and folders for it.
final class MediaResumingScene: Sendable {
  static let film = (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }
  static let cut = 600_000

  /// The whole pieces of the checksum before the cut.
  static let kept = 524_288

  let origin: LoopbackServer
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  /// - Parameters:
  ///   - headers: The headers of whole answers.
  ///   - rest: Answers a request for the rest; by default as an origin should.
  init(
    _ headers: Headers = ["ETag": "\"1\""],
    rest: @escaping @Sendable (Request) -> Response = { MediaResumingScene.rest(for: $0) }
  ) throws {
    let wholes = Watched(0)
    origin = try LoopbackServer { request in
      if request.headers["Range"] != nil { return rest(request) }
      var headers = headers
      headers["Content-Length"] = "\(Self.film.count)"
      let isFirst = wholes.change { count in
        count += 1
        return count == 1
      }
      return Response(
        headers: headers, body: isFirst ? Array(Self.film.prefix(Self.cut)) : Self.film)
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  static func rest(for request: Request, upTo end: Int = film.count) -> Response {
    let start = ResumingScene.firstByte(of: request)
    return Response(
      status: 206,
      headers: [
        "ETag": "\"1\"", "Content-Length": "\(film.count - start)",
        "Content-Range": "bytes \(start)-\(film.count - 1)/\(film.count)",
      ], body: Array(film[start..<end]))
  }

  func partials(byteLimit: Int = .mebibytes(4)) -> PartialTransfers {
    PartialTransfers(directory: beginnings, byteLimit: byteLimit)
  }

  func disk(sealing: DiskSealing? = nil) -> DiskCache {
    DiskCache(
      directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(16),
      sealing: sealing)
  }

  func media(
    _ disk: DiskCache? = nil, _ partials: PartialTransfers? = nil
  ) -> MediaCache<URL> {
    MediaCache(
      disk ?? self.disk(), over: Self.source(partials ?? self.partials()), limitedTo: 4,
      name: \.absoluteString)
  }

  /// Asks for a body at once on every platform.
  static func source(_ partials: PartialTransfers) -> HTTPSource<URL> {
    HTTPSource(transport: AtOnce(), resuming: partials)
  }

  private struct AtOnce: HTTPTransport {
    private let base = URLSessionTransport()

    let capabilities = TransportCapabilities(appliesBackpressure: true)

    func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
      base.send(request)
    }
  }

  /// Gets once, as a process of its own could.
  @discardableResult
  func get(_ disk: DiskCache? = nil, _ partials: PartialTransfers? = nil) async throws
    -> Recorder<DiskFile>
  {
    let partials = partials ?? self.partials()
    let answer = try await Recorder.ended(media(disk, partials).get(origin.url("/film")))
    // Unneeded files are removed on a queue of their own.
    try await partials.flush().value
    return answer
  }

  var ranges: [String?] { origin.exchanges.map { $0.request.headers["Range"] } }

  var beginnings: URL { folder.appendingPathComponent("beginnings") }

  var beginningNames: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: beginnings.path))?.sorted() ?? []
  }

  /// Files of values in the cache's folder.
  var valueNames: [String] {
    let path = folder.appendingPathComponent("disk").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(FileName.valueSuffix) }
  }
}

extension Recorder where Value == DiskFile {
  /// The bytes of the received file.
  var bytes: [UInt8]? {
    values.first.flatMap { try? Array(Data(contentsOf: $0.url)) }
  }
}
