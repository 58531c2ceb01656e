import Foundation
import LoopbackServer

extension LoopbackServer {
  /// Sends bodies of so many bytes as fast as it goes, of which only one piece is in memory.
  static func streaming(_ byteCount: Int) throws -> LoopbackServer {
    let piece = [UInt8](repeating: 1, count: 64 << 10)
    let rest = [UInt8](repeating: 1, count: byteCount % piece.count)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n"
    let steps =
      [Step.text(head)]
      + Array(repeating: .send(piece), count: byteCount / piece.count) + [.send(rest)]
    return try LoopbackServer { _ in .scripted(steps) }
  }

  /// - Throws: Nothing that happens: the base is a URL.
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: baseURL + path) else { throw URLError(.badURL) }
    return url
  }
}
