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
  private let refusal = Locked<HTTPHead?>(nil)

  /// The work that makes the request, and the wait for credentials, if it waits.
  private let caller = WorkContext.current
  private let wait = Locked<Lifetime?>(nil)

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
    let id = authorization.enter(request.url, session: transport.session) { id, decision in
      if !self.lifetime.isEnded { self.obey(decision, id) }
    }
    guard let id else {
      if !lifetime.isEnded { downstream.failed(CacheError.scopeEnded()) }
      return
    }
    lifetime.onEnd { authorization.left(id) }
    authorization.ask(id)
  }

  private func obey(_ decision: HTTPAuthorization.Decision, _ id: Int) {
    wait.withLock { exchange(&$0, with: nil) }?.end()
    switch decision {
    case .wait(for: let context):
      let waiting = lifetime.child()
      wait.withLock { $0 = waiting }
      if caller?.wait(for: context, until: waiting) == false {
        transport.authorization.left(id)
        downstream.failed(CacheError.circular(key: request.url.textWithoutSecrets))
      }
    case .send(let credentials):
      let upstream = lifetime.child()
      let request = request.authorized(
        by: credentials, for: transport.authorization.origins,
        account: transport.authorization.account)
      let answer = request.problem.map { .fail($0) } ?? transport.base.send(request)
      answer.run(observer(id, upstream), upstream)
    case .passRefusal:
      if let refusal = refusal.withLock({ $0 }) { downstream.next(.head(refusal)) }
      if !lifetime.isEnded { downstream.completed() }
    case .fail(let error): downstream.failed(error)
    }
  }

  private func observer(_ id: Int, _ upstream: Lifetime) -> Observer<HTTPPart> {
    let authorization = transport.authorization
    // After the decision the authorization ignores the rest of the answer, even a second head.
    let isDecided = SerialState(false)
    return Observer(
      next: { part in
        if upstream.isEnded { return }
        if case .head(let head) = part, !head.isInterim, !isDecided.value {
          if head.status == 401, head.redirection?.leftOrigin != true {
            upstream.end()
            self.refusal.withLock { $0 = head }
            return authorization.refused(id)
          }
          // An origin hardly gives a 2xx answer to refused credentials; it may give others without
          // a look at them.
          let isAccepted = (200..<300).contains(head.status) && head.redirection?.leftOrigin != true
          isDecided.value = true
          authorization.decided(id, isAccepted: isAccepted)
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
