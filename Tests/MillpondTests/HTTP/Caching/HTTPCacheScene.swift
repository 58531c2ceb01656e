import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting

@testable import Millpond

/// An HTTP cache over an origin whose answers a test writes in the notation of ``CachingRow``, with
/// a calendar of its own.
struct HTTPCacheScene: Sendable {
  let origin: ScriptedOrigin
  let cache: HTTPCache
  let reasons: Locked<[HTTPCacheReason]>
  let store: any Cache<String, HTTPCacheRecord>
  let seconds: Locked<Int>

  /// - Parameters:
  ///   - store: The store of the cache.
  ///   - answer: Returns the answer to a request and its number, from 1.
  init(
    store: any Cache<String, HTTPCacheRecord> = MemoryCache(countLimit: 100),
    rules: HTTPCacheRules = .standard, byteLimit: Int = 1 << 20,
    _ answer: @escaping @Sendable (HTTPRequest, Int) -> ScriptedOrigin.Answer
  ) {
    let origin = ScriptedOrigin(answer)
    let reasons = Locked<[HTTPCacheReason]>([])
    let seconds = Locked(0)
    self.origin = origin
    self.reasons = reasons
    self.seconds = seconds
    self.store = store
    cache = HTTPCache(
      over: origin, in: store, rules: rules, byteLimit: byteLimit,
      onDecision: { _, decision in reasons.withLock { $0.append(decision.reason) } },
      now: {
        Date(timeIntervalSince1970: Double(CachingRow.arrival + seconds.withLock { $0 }))
      })
  }

  /// Sets the calendar.
  func at(_ time: Int) { seconds.withLock { $0 = time } }

  /// The reasons of the decisions since the last call.
  func newReasons() -> [HTTPCacheReason] { reasons.withLock { exchange(&$0, with: []) } }

  /// Sends a request, and returns the answer in short.
  func send(_ fields: String = "", path: String = "/a") async throws -> String {
    try await Self.answer(cache.send(Self.request(fields, path: path)))
  }

  static func request(_ fields: String = "", path: String = "/a") throws -> HTTPRequest {
    guard let url = URL(string: "http://origin.test" + path) else { throw CancellationError() }
    return HTTPRequest(url: url, headers: CachingRow.fields(fields))
  }

  /// Returns an answer as its status, its body, and its age.
  static func answer(_ parts: Signal<HTTPPart>) async throws -> String {
    let recorder = Recorder<HTTPPart>().subscribe(to: parts)
    try await recorder.ended()
    return text(recorder)
  }

  static func text(_ recorder: Recorder<HTTPPart>) -> String {
    if let failure = recorder.failure { return "failed: \(failure)" }
    var text = ""
    for part in recorder.values {
      switch part {
      case .head(let head):
        text += "\(head.status)" + (head.headers["Age"].map { " age \($0)" } ?? "")
      case .body(let bytes): text += " " + String(decoding: bytes, as: UTF8.self)
      }
    }
    return recorder.violations.isEmpty ? text : "\(recorder.violations)"
  }
}

/// A transport whose answers a closure gives at once; it records the requests.
final class ScriptedOrigin: HTTPTransport {
  struct Answer: Sendable {
    var status = 200
    var fields = ""
    var body = ""
    var failure: (any Error)?
    var redirection: Redirection?

    static func ok(_ fields: String, _ body: String = "body") -> Answer {
      Answer(fields: fields, body: body)
    }

    static func status(_ status: Int, _ fields: String = "", _ body: String = "") -> Answer {
      Answer(status: status, fields: fields, body: body)
    }

    static var unreachable: Answer { Answer(failure: URLError(.cannotConnectToHost)) }
  }

  private let script: @Sendable (HTTPRequest, Int) -> Answer
  private let sent = Locked<[HTTPRequest]>([])

  init(_ script: @escaping @Sendable (HTTPRequest, Int) -> Answer) {
    self.script = script
  }

  var requests: [HTTPRequest] { sent.withLock { $0 } }
  var count: Int { requests.count }

  /// The values of a field in each request.
  func values(of name: String) -> [String?] { requests.map { $0.headers[name] } }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .deferred {
      let number = self.sent.withLock { sent in
        sent.append(request)
        return sent.count
      }
      let answer = self.script(request, number)
      let head = HTTPHead(
        status: answer.status, headers: CachingRow.fields(answer.fields),
        redirection: answer.redirection)
      var parts: [HTTPPart] = answer.failure == nil || !answer.body.isEmpty ? [.head(head)] : []
      // In two pieces, as a network delivers.
      let half = answer.body.utf8.count / 2
      for piece in [Data(answer.body.utf8.prefix(half)), Data(answer.body.utf8.dropFirst(half))]
      where !piece.isEmpty {
        parts.append(.body(piece))
      }
      let end: Signal<HTTPPart> = answer.failure.map { .fail($0) } ?? .empty
      return Signal.from(parts).concat(end)
    }
  }
}
