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
  /// An effect to carry out; effects are ordered.
  enum Step: Sendable {
    /// Let a request wait for the grant that is being obtained.
    case wait(Int)
    case obtain(Int, insteadOf: HeaderFields?)
    case send(Int, HeaderFields)

    /// Pass on the 401 of a request.
    case pass(Int)

    /// Fail a request because its grant could not be obtained.
    case fail(Int)
  }

  /// The time for which the refusals of a resource are remembered.
  static let memory = Duration.seconds(30)

  /// The greatest number of resources whose refusals are remembered.
  private static let memoryLimit = 1_000

  /// The number of sign-outs so far.
  private(set) var session = 0

  private var requests: [Int: Request] = [:]

  /// The current grant; nil while it is being obtained, and before.
  private var held: Held?

  /// The number of the grant that is being obtained, and the requests that wait for it.
  private(set) var obtaining: Int?
  private var waiting: [Int] = []

  /// The grant that was refused last.
  private var refused: HeaderFields?

  /// The refusals of each resource since it last accepted a grant.
  private var refusals: [String: Refusals] = [:]

  private var lastRequest = 0
  private var lastGrant = 0

  private struct Held: Sendable {
    let number: Int
    let credentials: HeaderFields

    /// Whether a request has been accepted with this grant.
    var isProven = false
  }

  private struct Request: Sendable {
    let resource: String

    /// The number of the grant that it was sent with; nil while it waits for one.
    var grant: Int?
  }

  private struct Refusals: Sendable {
    /// The number of grants that were replaced, and the time of the last replacement.
    var count = 0
    var last: Duration
  }
}

extension CredentialRenewal {
  /// Admits a request; nil if its session has ended.
  mutating func enter(_ resource: String, session: Int) -> Int? {
    guard session == self.session else { return nil }
    lastRequest += 1
    requests[lastRequest] = Request(resource: resource)
    return lastRequest
  }

  /// Sends an admitted request, or makes it wait for a grant.
  mutating func ask(_ id: Int) -> [Step] {
    guard requests[id] != nil else { return [] }
    requests[id]?.grant = held?.number
    if let held { return [.send(id, held.credentials)] }
    waiting.append(id)
    if obtaining != nil { return [.wait(id)] }
    lastGrant += 1
    obtaining = lastGrant
    return [.wait(id), .obtain(lastGrant, insteadOf: refused)]
  }

  /// Receives a grant, and sends the requests that wait for it.
  mutating func obtained(_ number: Int, _ credentials: HeaderFields) -> [Step] {
    guard let waiting = takeWaiting(number) else { return [] }
    held = Held(number: number, credentials: credentials)
    return waiting.flatMap { ask($0) }
  }

  /// Fails the requests that wait for a grant that could not be obtained.
  mutating func failed(_ number: Int) -> [Step] {
    let waiting = takeWaiting(number) ?? []
    return waiting.filter { requests.removeValue(forKey: $0) != nil }.map { .fail($0) }
  }

  /// Records that a request was answered as only a good grant is.
  mutating func accepted(_ id: Int) {
    guard let request = requests.removeValue(forKey: id), let held, request.grant == held.number
    else { return }
    self.held?.isProven = true
    refusals[request.resource] = nil
  }

  /// Records that a request was answered with 401.
  mutating func refused(_ id: Int, at now: Duration) -> [Step] {
    guard let request = requests[id], let grant = request.grant else { return [] }
    guard let held, held.number == grant else { return ask(id) }
    let former = refusals[request.resource].flatMap { now - $0.last < Self.memory ? $0 : nil }
    let count = former?.count ?? 0
    if count >= (held.isProven ? 3 : 1) {
      requests[id] = nil
      return [.pass(id)]
    }
    makeRoom(at: now)
    refusals[request.resource] = Refusals(count: count + 1, last: now)
    refused = held.credentials
    self.held = nil
    return ask(id)
  }

  /// Records that a request ended in another way, or that its caller left.
  mutating func left(_ id: Int) { requests[id] = nil }

  /// Forgets all grants and requests of the session, and begins another.
  mutating func endSession() {
    var next = CredentialRenewal()
    next.session = session + 1
    (next.lastRequest, next.lastGrant) = (lastRequest, lastGrant)
    self = next
  }

  /// Returns the requests that wait for a grant; nil if that is no longer wanted.
  private mutating func takeWaiting(_ number: Int) -> [Int]? {
    guard obtaining == number else { return nil }
    defer { (obtaining, waiting) = (nil, []) }
    return waiting
  }

  /// Forgets the refusals that no longer count, or all if there are too many.
  private mutating func makeRoom(at now: Duration) {
    guard refusals.count >= Self.memoryLimit else { return }
    refusals = refusals.filter { now - $0.value.last < Self.memory }
    if refusals.count >= Self.memoryLimit { refusals = [:] }
  }
}
