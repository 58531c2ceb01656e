import MillpondSignals

/// A transport that sends requests with the credentials of an authorization, on behalf of one session.
struct AuthorizedTransport: HTTPTransport {
  let base: any HTTPTransport
  let authorization: HTTPAuthorization
  let session: Int

  var appliesBackpressure: Bool { base.appliesBackpressure }

  /// The answer to the request, or to its repetition with new credentials.
  ///
  /// A request to an origin that the authorization is not for is sent without credentials.
  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    guard authorization.isFor(request.url) else { return base.send(request) }
    return Signal { observer, lifetime in
      AuthorizedTransfer(request, self, observer, lifetime).start()
    }
  }
}

/// A request that is sent until its answer is another than 401, or its 401 stands.
final class AuthorizedTransfer: Sendable {
  private let request: HTTPRequest
  private let transport: AuthorizedTransport
  private let downstream: Observer<HTTPPart>
  private let lifetime: Lifetime
  private let refusal = Locked<HTTPHead?>(nil)

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
    let authorization = transport.authorization
    guard let id = authorization.enter(self, request.url, session: transport.session) else {
      return fail(CacheError.scopeEnded)
    }
    lifetime.onEnd { authorization.left(id) }
    authorization.ask(id)
  }

  /// Sends the request; called by the authorization, as the following two are.
  func send(_ id: Int, with credentials: HeaderFields) {
    if lifetime.isEnded { return }
    let upstream = lifetime.child()
    transport.base.send(request.authorized(by: credentials))
      .run(observer(id, upstream), upstream)
  }

  func passRefusal() {
    if let refusal = refusal.withLock({ $0 }) { downstream.next(.head(refusal)) }
    if !lifetime.isEnded { downstream.completed() }
  }

  func fail(_ error: any Error) {
    if !lifetime.isEnded { downstream.failed(error) }
  }

  private func observer(_ id: Int, _ upstream: Lifetime) -> Observer<HTTPPart> {
    let authorization = transport.authorization
    return Observer(
      next: { part in
        if upstream.isEnded { return }
        if case .head(let head) = part {
          if head.refusesCredentials {
            upstream.end()
            self.refusal.withLock { $0 = head }
            return authorization.refused(id)
          }
          if head.isFinal { authorization.decided(id, isAccepted: head.acceptsCredentials) }
        }
        self.downstream.next(part)
      },
      other: { event in
        if upstream.isEnded { return }
        if event.isTerminal { authorization.left(id) }
        self.downstream.other(event)
      })
  }
}

extension HTTPHead {
  /// Whether this is the answer, not an interim one.
  fileprivate var isFinal: Bool {
    !(100..<200).contains(status)
  }

  fileprivate var refusesCredentials: Bool {
    status == 401 && !isOfOtherOrigin
  }

  /// Whether this is an answer that is hardly given to a request whose credentials are no good; others
  /// may be given without a look at them.
  fileprivate var acceptsCredentials: Bool {
    (200..<300).contains(status) && !isOfOtherOrigin
  }
}
