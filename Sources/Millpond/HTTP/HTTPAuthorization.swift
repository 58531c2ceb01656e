public import Foundation
public import MillpondCore
import MillpondSignals

/// Credentials for an origin, obtained when the first request needs them and again when the origin
/// refuses them.
///
///     let account = HTTPAuthorization(for: studio.url, in: session) { refused in
///       let token = try await refused == nil ? studio.token() : studio.newToken()
///       return ["Authorization": "Bearer \(token)"]
///     }
///     let photos = HTTPSource(authorization: account)
///
/// All requests that need credentials share one run of `obtain`, and are sent with its result. When
/// a request is answered with 401, its credentials count as refused: they are obtained again, once
/// for all requests, and the request is repeated. A failed run fails the requests that wait for it;
/// the next request starts another run.
///
/// A resource that answers 401 to new credentials too fails with that status, if no other request
/// has been accepted with them; otherwise they are obtained twice more for it, since they may have
/// expired again. Its further 401s within half a minute fail at once, and nothing is obtained for
/// them.
///
/// Credentials are sent only to the scheme, host and port of the URLs that the authorization is
/// for: not to a subdomain, and not to another port. Requests to other origins are sent without
/// them, and a redirect to another origin drops them, also if that leads back. A redirect between
/// two origins of the list keeps them. A 401 of an origin that received no credentials refuses
/// none.
///
/// One authorization may serve any number of sources.
///
/// - Note: Any thread.
public final class HTTPAuthorization: Sendable {
  /// URLs of the origins that may receive the credentials.
  let origins: [URL]

  /// The name of the account that the credentials are for, if it lasts longer than they do.
  let account: String?

  private let obtain: @Sendable (_ refused: HeaderFields?) -> Signal<HeaderFields>
  private let scheduler: Scheduler
  private let state = Locked(State())

  /// A scope that ends at each sign-out, with the callers of that session.
  private let session = CacheScope()
  private let scope: CacheScope?
  private let membership = Locked<ScopedDisposable?>(nil)

  private struct State: Sendable {
    var renewal = CredentialRenewal()
    var grant: Grant?
  }

  /// Creates an authorization without credentials.
  ///
  /// - Parameters:
  ///   - origin: A URL of the origin that the credentials are for; its path does not matter.
  ///   - others: Further origins for the same credentials.
  ///   - account: The name of the account that the credentials are for, if it lasts longer than
  ///     they do. An ``HTTPCache`` then answers with what is stored for the account, also after the
  ///     credentials were renewed; without a name, only requests with the same credentials share a
  ///     stored response.
  ///   - scope: The scope whose end is a sign-out, like ``forget()``.
  ///   - timeout: The time limit of `obtain`. A run beyond it is cancelled, and the requests that
  ///     wait for it fail with `SignalError.timedOut`.
  ///   - clock: The clock for `timeout`.
  ///   - obtain: Returns the header fields to send. Its argument holds the fields that were refused
  ///     last; nil if none were. A request of its own that needs these credentials fails with
  ///     `CacheError.circular`, also one of a task that it creates, unless that is detached. A run
  ///     continues when the requests that wait for it are cancelled, so that a one-time token is
  ///     not lost; a sign-out cancels it.
  public init(
    for origin: URL, _ others: URL..., account: String? = nil, in scope: CacheScope? = nil,
    timeout: Duration = .seconds(60), clock: some Clock<Duration> = ContinuousClock(),
    _ obtain: @escaping @Sendable (_ refused: HeaderFields?) async throws -> HeaderFields
  ) {
    origins = [origin] + others
    self.account = account
    self.scope = scope
    scheduler = Scheduler(clock)
    self.obtain = { refused in
      .async { try await obtain(refused) }.timeout(timeout, awaiting: .end, clock: clock)
    }
    let handle = scope?.add { [weak self] in
      self?.endSession()
      return .just(())
    }
    membership.withLock { $0 = handle?.scoped() }
  }

  /// Drops the credentials, as at a sign-out; the next request obtains new ones.
  ///
  /// Earlier requests are neither repeated nor answered any more: when this returns, their callers
  /// have failed with `CacheError.scopeEnded`, on this thread. A caller whose callback runs on
  /// another thread at that moment receives the failure right after that callback.
  public func forget() {
    endSession()
    session.end()
  }
}

// The calls of transfers.
extension HTTPAuthorization {
  var currentSession: Int { state.withLock { $0.renewal.session } }

  /// Returns the signal, which fails with `CacheError.scopeEnded` if a sign-out comes first.
  func untilSignOut<Value>(_ signal: Signal<Value>) -> Signal<Value> {
    let signal = session.untilEnd(signal)
    return scope?.untilEnd(signal) ?? signal
  }

  /// Whether the credentials may be sent to the origin of a URL.
  func isFor(_ url: URL) -> Bool { origins.contains { url.isOfSameOrigin(as: $0) } }

  /// Has a request wait for a grant, which is obtained if there is none; false if the session has
  /// ended.
  ///
  /// - Parameter wait: Begins to wait, before the grant is obtained.
  func grant(in session: Int, _ wait: (Grant) -> Void) -> Bool {
    var isNew = false
    let (grant, former) = state.withLock { state -> (Grant?, Grant?) in
      switch state.renewal.grant(in: session) {
      case .none: return (nil, nil)
      case .current: return (state.grant, nil)
      case .obtain(let number, let refused):
        isNew = true
        let grant = Grant(number: number, insteadOf: refused)
        return (grant, exchange(&state.grant, with: grant))
      }
    }
    withExtendedLifetime(former) {}  // released here, not under the lock
    guard let grant else { return false }
    wait(grant)
    if isNew { obtain(grant) }
    return true
  }

  /// Records a refusal; returns whether the request is to be sent again, with another grant.
  func refused(_ url: URL, with grant: Grant, _ credentials: HeaderFields) -> Bool {
    let now = scheduler.now()
    return state.withLock {
      $0.renewal.refused(url.absoluteString, with: grant.number, credentials, at: now)
    }
  }

  func accepted(_ url: URL, with grant: Grant) {
    state.withLock { $0.renewal.accepted(url.absoluteString, with: grant.number) }
  }

  private func obtain(_ grant: Grant) {
    let context = grant.context
    WorkContext.run(in: context) {
      obtain(grant.refused).run(
        Observer(
          next: { credentials in
            // Nobody waits for the run any more; what it has left running may make requests.
            context.end()
            grant.run.next(credentials)
          },
          other: { event in
            if case .failed = event {
              context.end()
              self.state.withLock { $0.renewal.failed(grant.number) }
            }
            grant.run.other(event)
          }), grant.run.lifetime)
    }
  }

  private func endSession() {
    let old = state.withLock { state in
      state.renewal.endSession()
      return exchange(&state.grant, with: nil)
    }
    old?.context.end()
    old?.run.lifetime.end()
  }
}

/// A run of an authorization's `obtain`, which all requests share.
struct Grant: Sendable {
  let number: Int
  let refused: HeaderFields?
  let run = Run<HeaderFields>()

  /// The context in which requests that would wait for the run itself are found.
  let context = WorkContext.ofSharedWork()

  init(number: Int, insteadOf refused: HeaderFields?) {
    self.number = number
    self.refused = refused
  }
}
