import MillpondCore
import MillpondSignals

/// A transport that sends requests with the credentials of an authorization, on behalf of one
/// session.
struct AuthorizedTransport: HTTPTransport {
  let base: any HTTPTransport
  let authorization: HTTPAuthorization
  let session: Int

  var capabilities: TransportCapabilities { base.capabilities }

  /// Returns the answer to the request, or to its repetition with new credentials.
  ///
  /// A request to an origin that the authorization is not for is sent without credentials.
  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    guard authorization.isFor(request.url) else { return base.send(request) }
    return Signal { observer, lifetime in
      AuthorizedTransfer(request, self, observer, lifetime).start()
    }
  }
}

/// A request that is repeated until its answer is not a 401, or its 401 is final.
private final class AuthorizedTransfer: Sendable {
  private let request: HTTPRequest
  private let transport: AuthorizedTransport
  private let downstream: Observer<HTTPPart>
  private let lifetime: Lifetime

  /// The work that makes the request.
  private let caller = WorkContext.current

  init(
    _ request: HTTPRequest, _ transport: AuthorizedTransport, _ downstream: Observer<HTTPPart>,
    _ lifetime: Lifetime
  ) {
    self.request = request
    self.transport = transport
    self.downstream = downstream
    self.lifetime = lifetime
  }

  func start() {
    let isAdmitted = transport.authorization.grant(in: transport.session) { wait(for: $0) }
    if !isAdmitted, !lifetime.isEnded { downstream.failed(CacheError.scopeEnded()) }
  }

  private func wait(for grant: Grant) {
    let waiting = lifetime.child()
    if !grant.context.isOver, caller?.wait(for: grant.context, until: waiting) == false {
      waiting.end()
      return downstream.failed(CacheError.circular(key: request.url.textWithoutSecrets))
    }
    let number = grant.run.join(
      Observer(
        next: { credentials in
          if waiting.isEnded { return }
          waiting.end()
          self.send(with: grant, credentials)
        },
        other: { event in if !waiting.isEnded { self.downstream.other(event) } }), waiting)
    waiting.onEnd(number) { grant.run.leave($0) }
  }

  private func send(with grant: Grant, _ credentials: HeaderFields) {
    let upstream = lifetime.child()
    let request = request.authorized(
      by: credentials, for: transport.authorization.origins,
      account: transport.authorization.account)
    let answer = request.problem.map { .fail($0) } ?? transport.base.send(request)
    answer.run(observer(grant, credentials, upstream), upstream)
  }

  private func observer(
    _ grant: Grant, _ credentials: HeaderFields, _ upstream: Lifetime
  ) -> Observer<HTTPPart> {
    let authorization = transport.authorization
    let url = request.url
    // After the decision the authorization ignores the rest of the answer, even a second head.
    let isDecided = SerialState(false)
    return Observer(
      next: { part in
        if upstream.isEnded { return }
        if case .head(let head) = part, !head.isInterim, !isDecided.value {
          let isFromOther = head.redirection?.leftOrigin == true
          if head.status == 401, !isFromOther {
            upstream.end()
            if authorization.refused(url, with: grant, credentials) { return self.start() }
            self.downstream.next(part)
            if !self.lifetime.isEnded { self.downstream.completed() }
            return
          }
          // An origin hardly gives a 2xx answer to refused credentials; it may give others without
          // a look at them.
          isDecided.value = true
          if (200..<300).contains(head.status), !isFromOther {
            authorization.accepted(url, with: grant)
          }
        }
        self.downstream.next(part)
      },
      other: { event in if !upstream.isEnded { self.downstream.other(event) } })
  }
}
