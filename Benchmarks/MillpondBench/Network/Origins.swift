import Foundation
import LoopbackServer

extension LoopbackServer {
  /// Makes an origin that sends a body of `byteCount` bytes, or a requested range of it, at full
  /// speed and with one piece in memory.
  static func streaming(_ byteCount: Int) throws -> LoopbackServer {
    let piece = [UInt8](repeating: 1, count: 64 << 10)
    return try LoopbackServer { request in
      let range = request.range(of: byteCount)
      let length = range?.count ?? byteCount
      let head = [
        range == nil ? "HTTP/1.1 200 OK" : "HTTP/1.1 206 Partial Content", "ETag: \"1\"",
        "Content-Length: \(length)",
      ]
      let place = range.map {
        "Content-Range: bytes \($0.lowerBound)-\($0.upperBound - 1)/\(byteCount)"
      }
      let lines = head + [place].compactMap(\.self) + ["", ""]
      return .scripted(
        [ScriptStep.text(lines.joined(separator: "\r\n"))]
          + Array(repeating: .send(piece), count: length / piece.count)
          + [.send(Array(piece.prefix(length % piece.count)))])
    }
  }

  /// - Throws: Nothing that happens: the base is a URL.
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: baseURL + path) else { throw URLError(.badURL) }
    return url
  }
}

extension Request {
  /// Returns the requested range of that many bytes; nil for all.
  fileprivate func range(of byteCount: Int) -> Range<Int>? {
    let bounds = headers["Range"]?.dropFirst("bytes=".count).split(separator: "-")
    guard let bounds, let first = bounds.first.flatMap({ Int($0) }), first < byteCount else {
      return nil
    }
    let last = bounds.count > 1 ? Int(bounds[1]) : nil
    return first..<max(first + 1, min((last ?? byteCount) + 1, byteCount))
  }
}
