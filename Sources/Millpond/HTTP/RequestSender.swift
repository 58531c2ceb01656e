import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// The requests of a source: sends them and turns the transport's parts into answers.
///
/// Functions for several kinds of answers are not specialised: each copy would be 30 kilobytes of
/// code that takes microseconds beside a request.
struct RequestSender: Sendable {
  let transport: any HTTPTransport
  let limits: HTTPLimits
  let authorization: HTTPAuthorization?
  let partials: PartialTransfers?
  let timers: SharedTimers

  /// Returns the answer to the request that `request` sends.
  ///
  /// The timeouts count from the subscription, so the making of the request is part of them.
  ///
  /// - Parameter request: A signal of the request.
  func answer(to request: Signal<HTTPRequest>) -> Signal<Answer<Data>> {
    onBehalfOfSession { transport, isCurrent in
      let revision = Revision.next()
      return carryOut(request, limits, isGet: true) { request in
        request.revalidating {
          resumed($0, by: transport, revision, isCurrent).map { $0.body }
        }
      }
      .answers()
      .conflated()
    }
  }

  /// Returns the answer to a request of any method, if its status is one of these.
  func response(to request: HTTPRequest, _ statuses: Range<Int>) -> Signal<HTTPResponse> {
    let accepted = AcceptedAnswers(
      statuses: statuses, admitsParts: true, hasBody: request.method != .head)
    return onBehalfOfSession { transport, _ in
      carryOut(.just(request), limits.ofSending(request), isGet: false) {
        transport.send($0).assembled(limits, accepted)
      }
      .map { answer in
        HTTPResponse(
          status: answer.head.status, headers: answer.head.headers, body: answer.body.value)
      }
      .conflated()
    }
  }

  /// Returns the body of the answer in parts, on the transport's thread, which waits while a
  /// subscriber is busy: nothing is buffered here.
  ///
  /// - Parameters:
  ///   - request: A signal of the request.
  ///   - send: Sends a request and turns the answer into parts. Receives the transport to use, and
  ///     a closure that returns whether the request's session is still the present one.
  @_semantics("optimize.sil.specialize.generic.never")
  @inline(never)
  func stream<Part>(
    _ request: Signal<HTTPRequest>,
    _ send:
      @escaping @Sendable (HTTPRequest, any HTTPTransport, @escaping IsCurrent) -> Signal<Part>
  ) -> Signal<Part> {
    onBehalfOfSession { transport, isCurrent in
      carryOut(request.map { $0.streamed }, limits.ofStream(), isGet: true) {
        send($0, transport, isCurrent)
      }
    }
  }

  typealias IsCurrent = @Sendable () -> Bool

  /// Binds work to the session of the authorization at its subscription: after a sign-out it sends
  /// and delivers nothing.
  @_semantics("optimize.sil.specialize.generic.never")
  @inline(never)
  private func onBehalfOfSession<Value>(
    _ work: @escaping @Sendable (any HTTPTransport, @escaping IsCurrent) -> Signal<Value>
  ) -> Signal<Value> {
    .deferred {
      guard let authorization else { return work(transport, { true }) }
      let session = authorization.currentSession
      let authorized = AuthorizedTransport(
        base: transport, authorization: authorization, session: session)
      return authorization.untilSignOut(
        work(authorized, { authorization.currentSession == session }))
    }
  }

  /// Sends a request, with the time limits; fails with the URL of the request.
  ///
  /// - Parameters:
  ///   - request: A signal of the request.
  ///   - limits: The limits on the answer.
  ///   - isGet: Whether the request may be repeated, shared and cached, so that it has to be safe.
  ///   - send: Sends the request.
  @_semantics("optimize.sil.specialize.generic.never")
  @inline(never)
  private func carryOut<Value>(
    _ request: Signal<HTTPRequest>, _ limits: HTTPLimits, isGet: Bool,
    _ send: @escaping @Sendable (HTTPRequest) -> Signal<Value>
  ) -> Signal<Value> {
    let address = Locked<URL?>(nil)
    return request.flatMap { request in
      address.withLock { $0 = request.url }
      guard request.url.isWebAddress else {
        return .fail(TransferError.unsupportedURL(request.url))
      }
      if isGet, !request.isSafe { return .fail(TransferError.unsafeGet(request.method)) }
      return request.problem.map { .fail($0) } ?? send(request)
    }
    .timingOut(Timeouts(limits, since: timers.now()), on: timers)
    .recover { error in
      guard let error = error as? TransferError, let url = address.withLock({ $0 }) else {
        return .fail(error)
      }
      return .fail(error.naming(url))
    }
  }

  private func resumed(
    _ request: HTTPRequest, by transport: any HTTPTransport, _ revision: Revision,
    _ isCurrent: @escaping IsCurrent
  ) -> Signal<WholeAnswer> {
    guard let partials, request.canBeResumed else {
      return transport.send(request).assembled(limits, .whole(request))
    }
    let request = request.adding(transport.capabilities)
    let place = partials.place(of: request.representation, revision)
    let earlier = partials.find(place, byteLimit: limits.byteLimit)
    return partials.resuming(earlier, at: place) { partial in
      transport.send(partial.map { request.resuming($0.resumePoint) } ?? request)
        .assembled(limits, resuming: partial) {
          if isCurrent() { partials.keep($0, at: place) }
        }
    }
  }
}

extension HTTPLimits {
  /// The same limits for the sending of a request: a body that is not in memory may take as long as
  /// one that is received in pieces.
  fileprivate func ofSending(_ request: HTTPRequest) -> HTTPLimits {
    switch request.body?.content {
    case nil, .data: self
    case .file, .stream: ofStream()
    }
  }
}

extension HTTPRequest {
  fileprivate var streamed: HTTPRequest {
    var request = self
    request.isStreamed = true
    return request
  }
}
