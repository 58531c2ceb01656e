import Foundation
import LoopbackServer
import MillpondTesting

@testable import Millpond

/// An origin of one film that breaks off when it sends the whole, and knows ranges; and a folder.
final class ResumingScene: Sendable {
  static let film = (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }
  static let value = Data(film)
  static let cut = 60_000

  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")
  let origin: LoopbackServer

  /// - Parameters:
  ///   - headers: Sent along with the first answer.
  ///   - rest: Answers a request for the rest; by default as an origin should.
  init(
    _ headers: Headers = ["ETag": "\"1\""],
    rest: @escaping @Sendable (Request) -> Response = { ResumingScene.rest(for: $0) }
  ) throws {
    origin = try LoopbackServer { request in
      if request.headers["Range"] != nil { return rest(request) }
      var headers = headers
      headers["Content-Length"] = "\(Self.film.count)"
      return Response(headers: headers, body: Array(Self.film.prefix(Self.cut)))
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns the rest of the film, as far as the range says, whatever the condition.
  static func rest(for request: Request, _ headers: Headers = ["ETag": "\"1\""]) -> Response {
    let start = firstByte(of: request)
    var headers = headers
    headers["Content-Range"] = "bytes \(start)-\(film.count - 1)/\(film.count)"
    return Response(status: 206, headers: headers, body: Array(film.dropFirst(start)))
  }

  static func firstByte(of request: Request) -> Int {
    let range = request.headers["Range"] ?? ""
    return Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
  }

  func partials(byteLimit: Int = .mebibytes(4)) -> PartialTransfers {
    PartialTransfers(directory: folder, byteLimit: byteLimit)
  }

  /// Gets once, as a process of its own could.
  @discardableResult
  func get(_ path: String = "/film") async throws -> Recorder<Data> {
    let partials = partials()
    let answer = try await Recorder.outcome(
      of: HTTPSource(resuming: partials), origin.url(path))
    try await partials.flush().value
    return answer
  }

  var ranges: [String?] { origin.exchanges.map { $0.request.headers["Range"] } }

  var fileNames: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []
  }
}
