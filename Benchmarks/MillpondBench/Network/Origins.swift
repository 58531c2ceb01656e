import Foundation
import LoopbackServer

extension LoopbackServer {
  /// Makes an origin that sends a body of `byteCount` bytes, or a requested range of it, at full
  /// speed and with one piece in memory.
  static func streaming(_ byteCount: Int) throws -> LoopbackServer {
    let piece = [UInt8](repeating: 1, count: 64 << 10)
    return try LoopbackServer { request in
      // "bytes=FIRST-" or "bytes=FIRST-LAST".
      let range = request.headers["Range"]?.dropFirst("bytes=".count).split(separator: "-")
        .compactMap { Int($0) }
      let first = range?.first ?? 0
      let last = min(range?.dropFirst().first ?? .max, byteCount - 1)
      let length = max(0, last + 1 - first)
      let head =
        (range == nil
          ? "HTTP/1.1 200 OK\r\n"
          : "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(first)-\(last)/\(byteCount)\r\n")
        + "ETag: \"1\"\r\nContent-Length: \(length)\r\n\r\n"
      return .scripted(
        [.text(head)] + Array(repeating: .send(piece), count: length / piece.count)
          + [.send(Array(piece.prefix(length % piece.count)))])
    }
  }

  /// - Throws: Nothing that happens: the base is a URL.
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: baseURL + path) else { throw URLError(.badURL) }
    return url
  }
}
