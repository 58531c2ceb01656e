import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// Carries requests out, and makes answers of what the transport brings.
struct Transfers: Sendable {
  let transport: any HTTPTransport
  let limits: HTTPLimits
  let authorization: HTTPAuthorization?
  let partials: PartialTransfers?
  let ticker: Ticker

  /// The answer to the request that is the value of `request`.
  ///
  /// Its timeouts count from the subscription, so what comes before the sending is part of it.
  func answer(to request: Signal<HTTPRequest>) -> Signal<Stamped<Data>> {
    .deferred {
      request.flatMap { authorized($0, resumed) }
        .timed(Patience(limits, since: ticker.now()), on: ticker)
        .handedOver(to: .global(qos: .userInitiated))
    }
  }

  /// The body of the answer in parts, on the thread of the transport, which waits for whoever is slow:
  /// nothing is kept for them here.
  ///
  /// - Parameter send: Sends a request and makes parts of what comes.
  func stream<Part>(
    _ request: Signal<HTTPRequest>,
    _ send: @escaping @Sendable (HTTPRequest) -> Signal<Part>
  ) -> Signal<Part> {
    .deferred {
      request.flatMap { authorized($0, send) }
        .timed(Patience(limits, since: ticker.now()), on: ticker)
    }
  }

  private func authorized<Value>(
    _ request: HTTPRequest, _ send: @escaping @Sendable (HTTPRequest) -> Signal<Value>
  ) -> Signal<Value> {
    guard request.url.isWebAddress else { return .fail(TransferError.unsupportedURL(request.url)) }
    guard let authorization else { return send(request) }
    return authorization.authorizing(request, send)
  }

  private func resumed(_ request: HTTPRequest) -> Signal<Stamped<Data>> {
    guard let partials else { return transport.send(request).gathered(limits) }
    return partials.resuming(request) { request, partial in
      transport.send(request).gathered(limits, resuming: partial) {
        partials.keep($0, for: request.identity)
      }
    }
  }
}
