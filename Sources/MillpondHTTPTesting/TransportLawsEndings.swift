import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

// The laws about transfers that do not complete.
extension TransportLawsScene {
  mutating func failures() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    let scripts: [String: [ScriptStep]] = [
      "/closed": [.close], "/reset": [.reset], "/cut": [.text(head), .close],
      "/cut-by-reset": [.text(head), .reset], "/cut-chunks": [.text(chunked), .close],
      "/garbage": [.text("hello\r\n\r\n"), .close],
    ]
    let origin = try LoopbackServer { request in
      scripts[request.path].map { .scripted($0) } ?? Response()
    }
    for path in scripts.keys.sorted() {
      let answer = await answer(to: HTTPRequest(url: try origin.url(path)))
      // A length that is not reached may also be left to the caller, who checks it.
      let isLeftToCaller = path == "/cut" && answer.isCompleted && answer.body.count == 5
      expect(
        answer.isFailed || isLeftToCaller, "\(path): \(answer.summary), not a failure")
    }
    let closed = try ClosedPort()
    guard let url = URL(string: closed.baseURL) else { return }
    let answer = await answer(to: HTTPRequest(url: url))
    expect(answer.isFailed, "a refused connection: \(answer.summary)")
  }

  mutating func cancellation() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      let response = Response(body: Array(repeating: 1, count: 100_000))
      return request.path == "/head"
        ? response.held(by: hold) : response.held(by: hold, afterBodyBytes: 50_000)
    }
    for path in ["/head", "/body"] {
      let recorder = Recorder<HTTPPart>()
        .subscribe(to: transport.send(HTTPRequest(url: try origin.url(path))))
      let hasArrived = await eventually(origin) { $0.requestCount(path: path) == 1 }
      expect(hasArrived, "\(path): the request did not arrive")
      if path == "/body" { _ = try? await recorder.values(count: 2) }

      recorder.dispose()
      let count = recorder.events.count

      let isClosed = await eventually(origin) { snapshot in
        snapshot.exchanges.contains { exchange in
          guard exchange.request.path == path else { return false }
          return if case .clientClosed = exchange.outcome { true } else { false }
        }
      }
      expect(isClosed, "\(path): the connection stays open after the subscriber has left")
      expect(
        recorder.events.count == count && recorder.end == nil,
        "\(path): events came after the subscriber had left")
    }
    hold.release()
  }
}
