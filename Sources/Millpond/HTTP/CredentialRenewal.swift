/// The renewal of credentials: the rules that decide which grant a request is sent with, and
/// whether a 401 refuses the grant, so that one run obtains another for all requests, or is final.
///
/// A grant is the result of one run of an authorization's `obtain`. A 401 refuses the grant that
/// the request was sent with. If that grant has been replaced since, the request is sent again with
/// the new one; if it is the current one, it is replaced. A resource that goes on refusing replaces
/// no more: after one replacement if nothing has been accepted with the new grant, and otherwise
/// after three, since a grant may expire again while a request waits for its turn.
///
/// Pure: no locks, no clock, no callbacks.
struct CredentialRenewal: Sendable {
  /// The time for which the refusals of a resource are remembered.
  static let memory = Duration.seconds(30)

  /// The number of sign-outs so far.
  private(set) var session = 0

  /// The number of the current grant, which may still be being obtained; nil if there is none.
  private var current: Int?

  /// Whether a request has been accepted with the current grant.
  private var isProven = false

  private var lastGrant = 0

  /// The credentials that were refused last.
  private var refused: HeaderFields?

  /// The refusals of each resource since it last accepted a grant.
  private var refusals: [String: Refusals] = [:]

  private struct Refusals: Sendable {
    /// The number of grants that were replaced, and the time of the last replacement.
    var count = 0
    var last: Duration
  }
}

extension CredentialRenewal {
  /// The way to the grant that a request is sent with.
  enum Way: Sendable {
    /// Wait for the current grant, unless it has been obtained already.
    case current

    /// Obtain a grant with this number.
    case obtain(Int, insteadOf: HeaderFields?)

    /// There is none: the session of the request has ended.
    case none
  }

  /// Returns the way to the grant for a request.
  mutating func grant(in session: Int) -> Way {
    guard session == self.session else { return .none }
    if current != nil { return .current }
    lastGrant += 1
    (current, isProven) = (lastGrant, false)
    return .obtain(lastGrant, insteadOf: refused)
  }

  /// Records that a grant could not be obtained; the next request has another one obtained.
  mutating func failed(_ grant: Int) {
    if grant == current { current = nil }
  }

  /// Records that a request for a resource was answered as only a good grant is.
  mutating func accepted(_ resource: String, with grant: Int) {
    guard grant == current else { return }
    isProven = true
    refusals[resource] = nil
  }

  /// Records that a request for a resource was answered with 401.
  ///
  /// - Returns: Whether the request is to be sent again, with the grant that there is then.
  mutating func refused(
    _ resource: String, with grant: Int, _ credentials: HeaderFields, at now: Duration
  ) -> Bool {
    guard grant == current else { return true }
    // Each of them has cost a replacement, so they are few.
    refusals = refusals.filter { now - $0.value.last < Self.memory }
    let count = refusals[resource]?.count ?? 0
    if count >= (isProven ? 3 : 1) { return false }
    refusals[resource] = Refusals(count: count + 1, last: now)
    (current, refused) = (nil, credentials)
    return true
  }

  /// Forgets everything about the session, and begins another.
  mutating func endSession() {
    var next = CredentialRenewal()
    (next.session, next.lastGrant) = (session + 1, lastGrant)
    self = next
  }
}
