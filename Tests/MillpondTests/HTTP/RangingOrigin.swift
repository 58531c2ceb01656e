import Foundation
import Millpond
import MillpondSignals
import MillpondTesting

/// An origin of one body that answers at once, in ranges on request, and records its requests.
final class RangingOrigin: HTTPTransport {
  /// One answer.
  struct Answer: Sendable {
    var status = 200
    var headers: HeaderFields = [:]
    var body = Data()
    var end = Event<Never>.completed
  }

  let body: Data
  private let change: @Sendable (_ answer: Answer, _ number: Int) -> Answer
  private let asked = Watched<[HTTPRequest]>([])

  /// - Parameters:
  ///   - appliesBackpressure: Whether a large body is to be requested at once.
  ///   - change: Receives the right answer and its number, from 1, and returns the one to send.
  init(
    byteCount: Int = 1_000, appliesBackpressure: Bool = true,
    _ change: @escaping @Sendable (_ answer: Answer, _ number: Int) -> Answer = { answer, _ in
      answer
    }
  ) {
    let part = Data((0..<2_048).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })
    body = (0...byteCount / 2_048).reduce(into: Data()) { body, _ in body += part }
      .prefix(byteCount)
    capabilities = TransportCapabilities(appliesBackpressure: appliesBackpressure)
    self.change = change
  }

  let capabilities: TransportCapabilities
  var ranges: [String?] { asked.state.map { $0.headers["Range"] } }
  var conditions: [String?] { asked.state.map { $0.headers["If-Range"] } }

  /// Returns the values of a field in each request.
  func values(of name: String) -> [[String]] {
    asked.state.map { $0.headers.values(of: name) }
  }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .deferred {
      let number = self.asked.change { asked in
        asked.append(request)
        return asked.count
      }
      let answer = self.change(self.answer(to: request), number)
      let head = HTTPPart.head(HTTPHead(status: answer.status, headers: answer.headers))
      let parts = answer.body.isEmpty ? [head] : [head, .body(answer.body)]
      let end: Signal<HTTPPart> =
        if case .failed(let error) = answer.end { .fail(error) } else { .empty }
      return Signal.from(parts).concat(end)
    }
  }

  private func answer(to request: HTTPRequest) -> Answer {
    let bounds = request.headers["Range"]?.dropFirst("bytes=".count).split(separator: "-")
    guard let bounds, let first = bounds.first.flatMap({ Int($0) }) else {
      return Answer(headers: headers(body.count), body: body)
    }
    let last = min(bounds.count > 1 ? Int(bounds[1]) ?? 0 : body.count - 1, body.count - 1)
    guard first <= last else { return Answer(status: 416) }
    var fields = headers(last + 1 - first).fields
    fields.append((name: "Content-Range", value: "bytes \(first)-\(last)/\(body.count)"))
    return Answer(status: 206, headers: HeaderFields(fields), body: body[first...last])
  }

  private func headers(_ length: Int) -> HeaderFields {
    ["ETag": "\"1\"", "Content-Length": "\(length)"]
  }
}
