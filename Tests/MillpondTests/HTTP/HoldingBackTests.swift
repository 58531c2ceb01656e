import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import TestTraits
import Testing

/// Whether an origin that is faster than who receives can only be so far ahead.
@Suite(.heavy) struct HoldingBackTests {
  private static let piece = [UInt8](repeating: 1, count: 64 << 10)
  private static let byteCount = 128 << 20

  /// What the systems of both ends may keep for a connection, and what may wait here.
  private static let bound = 64 << 20

  private func origin() throws -> LoopbackServer {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.byteCount)\r\n\r\n"
    let steps =
      [Step.text(head)]
      + Array(repeating: .send(Self.piece), count: Self.byteCount / Self.piece.count)
    return try LoopbackServer { _ in .scripted(steps) }
  }

  /// Takes longer for a piece than an origin takes to send it.
  private func work(through piece: Data) {
    let copy = Data(Array(piece))
    for _ in 0..<400 where piece != copy { Issue.record("a copy that differs") }
  }

  @Test func `an origin is ahead of who takes its pieces by no more than is kept for it`()
    async throws
  {
    let origin = try origin()
    let (received, ahead) = (Watched(0), Watched(0))
    let pieces = HTTPSource().pieces(of: try origin.url("/")).onNext { piece in
      let count = received.change { count in
        count += piece.count
        return count
      }
      let lead = origin.bytesSent - count
      ahead.change { $0 = max($0, lead) }
      work(through: piece)
    }

    try await Recorder<Data>().subscribe(to: pieces.ignoreValues(as: Data.self)).ended()

    #expect(received.state == Self.byteCount)
    #expect(ahead.state < Self.bound)
  }
}
