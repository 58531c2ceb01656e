import MillpondSignals

/// Credentials that are obtained when they are needed first, and anew when an origin refuses them.
///
/// All requests that wait for credentials share one run of `obtain`, and go on with what it returns.
/// A request that is answered with 401 has them obtained anew, unless another one has done so, and is
/// sent once more. If that too is answered with 401, so it fails. A run that fails, fails those who
/// wait for it, and is forgotten.
///
///     let account = HTTPAuthorization { refused in
///       let token = try await refused == nil ? session.token() : session.newToken()
///       return ["Authorization": "Bearer \(token)"]
///     }
///     let photos = HTTPSource(authorization: account)
///
/// One authorization may serve any number of sources.
///
/// - Note: Any thread.
public final class HTTPAuthorization: Sendable {
  private let obtain: @Sendable (_ refused: HeaderFields?) async throws -> HeaderFields
  private let timeout: Duration
  private let state = Locked(State())

  private struct State: Sendable {
    var lastNumber = 0
    var current: (number: Int, grant: Signal<Grant>)?
    var refused: HeaderFields?
  }

  /// Credentials that `obtain` brings.
  ///
  /// - Parameters:
  ///   - timeout: How long `obtain` may take; then it is cancelled, and who waits fails with
  ///     ``SignalError/timedOut``.
  ///   - obtain: Returns the fields to send along. It is given those that were refused; nil if none
  ///     were. A request of its own must not wait for these very credentials. It goes on when those
  ///     who wait leave, so that no token is lost that can be had only once.
  public init(
    timeout: Duration = .seconds(60),
    _ obtain: @escaping @Sendable (_ refused: HeaderFields?) async throws -> HeaderFields
  ) {
    self.timeout = timeout
    self.obtain = obtain
  }

  /// Lets go of the credentials, as at a sign-out: the next request has them obtained.
  public func forget() {
    let old = state.withLock { state in
      defer { state = State(lastNumber: state.lastNumber) }
      return state
    }
    _ = old  // released here, not under the lock
  }
}

extension HTTPAuthorization {
  /// What `send` makes of the request with credentials; with new ones, if they are refused.
  func authorizing<Value>(
    _ request: HTTPRequest, _ send: @escaping @Sendable (HTTPRequest) -> Signal<Value>
  ) -> Signal<Value> {
    currentGrant.flatMap { grant in
      send(request.authorized(by: grant.credentials)).recover { error in
        guard error.isUnauthorized else { return .fail(error) }
        self.refuse(grant)
        return self.currentGrant.flatMap { send(request.authorized(by: $0.credentials)) }
      }
    }
  }

  private var currentGrant: Signal<Grant> {
    .deferred {
      self.state.withLock { state in
        if let current = state.current { return current.grant }
        state.lastNumber += 1
        let grant = self.newGrant(state.lastNumber, insteadOf: state.refused)
        state.current = (state.lastNumber, grant)
        return grant
      }
    }
  }

  private func newGrant(_ number: Int, insteadOf refused: HeaderFields?) -> Signal<Grant> {
    let obtain = obtain
    return Signal.async { Grant(number: number, credentials: try await obtain(refused)) }
      .timeout(timeout, awaiting: .end)
      // Weakly, since this is kept by what it would keep.
      .onEnd { [weak self] ending in
        if case .failed = ending { self?.drop(number) }
      }
      .replayLast(.keepRunning)
  }

  private func refuse(_ grant: Grant) {
    drop(grant.number, refused: grant.credentials)
  }

  private func drop(_ number: Int, refused: HeaderFields? = nil) {
    let old = state.withLock { state -> Signal<Grant>? in
      guard state.current?.number == number else { return nil }
      defer { state.current = nil }
      if let refused { state.refused = refused }
      return state.current?.grant
    }
    _ = old  // released here, not under the lock
  }
}

private struct Grant: Sendable {
  let number: Int
  let credentials: HeaderFields
}

extension Error {
  fileprivate var isUnauthorized: Bool {
    if case .status(code: 401, _) = self as? TransferError { true } else { false }
  }
}
