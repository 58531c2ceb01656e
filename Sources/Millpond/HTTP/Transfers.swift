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
      let revision = Revision.next()
      return request.flatMap { authorized($0) { resumed($0, revision) } }
        .timed(Patience(limits, since: ticker.now()), on: ticker)
        .handedOver(to: .global(qos: .userInitiated))
    }
  }

  /// The body of the answer in parts, on the thread of the transport, which waits for whoever is slow:
  /// nothing is kept for them here.
  ///
  /// - Parameter send: Sends a request by ``authorizedTransport`` and makes parts of what comes.
  func stream<Part>(
    _ request: Signal<HTTPRequest>,
    _ send: @escaping @Sendable (HTTPRequest) -> Signal<Part>
  ) -> Signal<Part> {
    .deferred {
      request.flatMap { checked($0, send) }
        .timed(Patience(limits, since: ticker.now()), on: ticker)
    }
  }

  private func authorized<Value>(
    _ request: HTTPRequest, _ send: @escaping @Sendable (HTTPRequest) -> Signal<Value>
  ) -> Signal<Value> {
    checked(request) { request in
      authorization?.authorizing(request, send) ?? send(request)
    }
  }

  private func checked<Value>(
    _ request: HTTPRequest, _ send: @escaping @Sendable (HTTPRequest) -> Signal<Value>
  ) -> Signal<Value> {
    guard request.url.isWebAddress else { return .fail(TransferError.unsupportedURL(request.url)) }
    return send(request)
  }

  /// The transport, which adds credentials to each request.
  var authorizedTransport: any HTTPTransport {
    authorization.map { AuthorizedTransport(base: transport, authorization: $0) } ?? transport
  }

  private func resumed(
    _ request: HTTPRequest, _ revision: Revision
  ) -> Signal<Stamped<Data>> {
    guard let partials, request.canBeResumed else {
      return transport.send(request).gathered(limits)
    }
    let place = PartialPlace(representation: request.representation, revision: revision)
    return partials.resuming(request, at: place) { request, partial in
      transport.send(request).gathered(limits, resuming: partial) {
        partials.keep($0, at: place)
      }
    }
  }
}
