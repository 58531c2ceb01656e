import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

extension LoopbackServer {
  func url(_ path: String) throws -> URL {
    try #require(URL(string: baseURL + path))
  }

  /// Whether the client has closed the connections of all requests.
  func wasClosedByClient(requests count: Int = 1) async -> Bool {
    await eventually { snapshot in
      snapshot.exchanges.count == count
        && snapshot.exchanges.allSatisfy { exchange in
          if case .clientClosed = exchange.outcome { true } else { false }
        }
    }
  }
}

extension Recorder {
  /// The failure in words; nil if there is none.
  var failureInWords: String? {
    guard let failure else { return nil }
    if let error = failure as? URLError { return "URLError \(error.code.rawValue)" }
    switch failure as? TransferError {
    case .unsupportedURL(let url): return "unsupported \(url.absoluteString)"
    case .invalidRequest: return "invalid request"
    case .notRepeated(let method, _, _): return "\(method) not repeated"
    case .status(let code, _, _): return "status \(code)"
    case .tooLarge(let limit, _): return "more than \(limit)"
    case .headTooLarge(let limit, _): return "head of more than \(limit)"
    case .truncated(let received, let expected, _):
      return "\(received) of \(expected.map { "\($0)" } ?? "?")"
    case .invalidResponse: return "invalid"
    case .timedOut(let timeout, _): return "\(timeout)"
    case nil: return "\(failure)"
    }
  }
}

extension Recorder where Value == Data {
  /// Makes a get, and waits for its end.
  @discardableResult
  static func outcome(
    of source: HTTPSource<URL>, _ url: URL, _ lookup: Lookup = Lookup()
  ) async throws -> Recorder {
    let recorder = Recorder().subscribe(to: source.get(url, lookup))
    try await recorder.ended()
    #expect(recorder.violations.isEmpty)
    return recorder
  }
}

/// A transport whose answers a test sends by hand.
struct TestTransport: HTTPTransport {
  var source = TestSource<HTTPPart>()

  let capabilities = TransportCapabilities(appliesBackpressure: true)

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    source.signal
  }
}
