import Foundation
import MillpondSignals
import MillpondTesting

@testable import Millpond

extension ScheduleEffort {
  /// Fewer schedules, since each makes requests.
  static var http: ScheduleEffort { ScheduleEffort(searchLimit: 50, randomCount: 50) }
}

/// A transport whose answers the program sends.
final class ProgramTransport: HTTPTransport, @unchecked Sendable {
  static let url = URL(string: "http://origin.test/a") ?? URL(filePath: "/")

  private final class Run: @unchecked Sendable {
    let request: HTTPRequest
    let lifetime: Lifetime
    var observer: Observer<HTTPPart>?
    var sentCount = 0

    init(_ request: HTTPRequest, _ observer: Observer<HTTPPart>, _ lifetime: Lifetime) {
      self.request = request
      self.observer = observer
      self.lifetime = lifetime
    }
  }

  private var runs: [Run] = []

  /// The methods of the requests that have been sent and answered, in that order.
  private var log: [(method: HTTPMethod, isAnswered: Bool)] = []

  let capabilities = TransportCapabilities(appliesBackpressure: true)

  var requests: [HTTPRequest] { runs.map(\.request) }

  /// Whether a transfer goes on.
  var isRunning: Bool { runs.contains { $0.observer != nil && !$0.lifetime.isEnded } }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal { [self] observer, lifetime in
      let run = Run(request, observer, lifetime)
      runs.append(run)
      log.append((request.method, false))
      lifetime.onEnd { run.observer = nil }
    }
  }

  /// Whether a request of one method was sent before one of another was answered.
  func isBefore(_ one: HTTPMethod, _ other: HTTPMethod) -> Bool {
    guard let sent = log.firstIndex(where: { $0.method == one && !$0.isAnswered }),
      let answered = log.lastIndex(where: { $0.method == other && $0.isAnswered })
    else { return false }
    return sent < answered
  }

  /// Answers the requests under way: a 304 only those that ask for one.
  func answer(_ status: Int, _ headers: HeaderFields, _ body: String, method: HTTPMethod? = nil) {
    for run in runs where method == nil || run.request.method == method {
      if status == 304, run.request.headers["If-None-Match"] == nil { continue }
      guard let observer = exchange(&run.observer, with: nil) else { continue }
      log.append((run.request.method, true))
      observer.next(.head(HTTPHead(status: status, headers: headers)))
      if !body.isEmpty { observer.next(.body(Data(body.utf8))) }
      observer.completed()
    }
  }

  /// Sends the first bytes of a resource to those who ask for the whole.
  func begin(_ whole: Data, _ count: Int) {
    for run in runs where run.request.headers["Range"] == nil { send(whole.prefix(count), to: run) }
  }

  /// Answers the requests under way with the whole, or with the rest that they ask for.
  func serve(_ whole: Data) {
    for run in runs {
      let observer = run.observer
      send(whole, to: run)
      if exchange(&run.observer, with: nil) != nil { observer?.completed() }
    }
  }

  private func send(_ bytes: Data, to run: Run) {
    let count = TransferScheduleTests.whole.count
    let range = run.request.headers["Range"] ?? ""
    let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
    if run.sentCount == 0 {
      var headers: HeaderFields = ["ETag": "\"1\"", "Content-Length": "\(count - start)"]
      if start > 0 { headers.append("bytes \(start)-\(count - 1)/\(count)", for: "Content-Range") }
      run.sentCount = start
      run.observer?.next(.head(HTTPHead(status: start > 0 ? 206 : 200, headers: headers)))
    }
    let rest = bytes.dropFirst(run.sentCount)
    run.sentCount = max(run.sentCount, bytes.count)
    run.observer?.next(.body(rest))
  }
}

extension Witness<HTTPPart> {
  /// The status and the body.
  var text: String {
    values.map { part in
      switch part {
      case .head(let head): "\(head.status)"
      case .body(let bytes): " " + String(decoding: bytes, as: UTF8.self)
      }
    }.joined()
  }
}
