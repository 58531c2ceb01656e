/// The renewal of credentials: the rules that decide which grant a request is sent with, and
/// whether a 401 refuses the grant, so that one run obtains another for all requests, or comes from
/// a resource that refuses every grant.
///
/// A grant is the result of one run of an authorization's `obtain`. A 401 refuses the grant that
/// the request was sent with. If that grant has been replaced since, the request is sent again with
/// the new one. If it is the current one, the first refusal of a request replaces it. A further
/// refusal of the same request is ambiguous: either the new grant has expired too, or the resource
/// refuses every grant. So the request waits for a witness:
/// - Another request, sent after the 401, is accepted with the same grant: the 401 is final.
/// - The grant is replaced because of another request: the request is sent again.
/// - No other request is under way any more, or none has decided for a while: the grant is
///   replaced. If that does not help, the 401 of a single resource is final after two such grants,
///   or at once if no request of the session has been accepted yet. With several resources, the
///   401s of those that were refused first become final one after another.
///
/// A resource with a final 401 refuses no grant for a while.
///
/// Pure: no locks, no clock, no callbacks.
struct CredentialRenewal: Sendable {
  /// An effect to carry out; effects are ordered.
  enum Step: Sendable {
    case obtain(Int, insteadOf: HeaderFields?)
    case send(Int, HeaderFields)
    case pass(Int)

    /// Fail a request because its grant could not be obtained.
    case fail(Int)

    /// Call ``CredentialRenewal/noWitness(for:)`` after a while.
    case watch(Int)
  }

  /// The time for which a resource with a final 401 refuses no grant.
  static let memory = Duration.seconds(30)

  /// The number of times that a single resource may have a grant replaced without a witness.
  private static let trialLimit = 2

  /// The greatest number of resources with a final 401 that are remembered.
  private static let memoryLimit = 1_000

  /// The number of sign-outs so far.
  private(set) var session = 0

  private var requests: [Int: Request] = [:]

  /// The current grant; nil while it is being obtained, and before.
  private var held: Held?

  /// The number of the grant that is being obtained, and the requests that wait for it.
  private(set) var obtaining: Int?
  private(set) var waiting: [Int] = []

  private var refused: HeaderFields?
  /// The number of grants in a row that several resources refused and that were replaced without a
  /// witness, before any request was accepted with them.
  private var fruitlessCount = 0

  /// Whether a request of this session has been accepted.
  private var hasAccepted = false

  /// The resources with a final 401, and the time of each.
  private var standing: [String: Duration] = [:]

  private var lastRequest = 0
  private var lastGrant = 0

  /// The number of the last sending or refusal, which orders them.
  private var lastEvent = 0

  private struct Held: Sendable {
    let number: Int
    let credentials: HeaderFields

    /// Whether a request has been accepted with this grant.
    var isProven = false

    /// The number of requests sent with this grant and not answered yet.
    var openCount = 0

    /// The requests that wait for a witness, in the order of their refusals.
    var suspended: [Int] = []
    var isWatched = false
  }

  private struct Request: Sendable {
    let resource: String
    var refusalCount = 0
    var trialCount = 0
    var place = Place.waiting
  }

  private enum Place: Sendable {
    case waiting
    case sent(grant: Int, event: Int)
    case suspended(event: Int, since: Duration)
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
    if let held {
      lastEvent += 1
      requests[id]?.place = .sent(grant: held.number, event: lastEvent)
      self.held?.openCount += 1
      return [.send(id, held.credentials)]
    }
    requests[id]?.place = .waiting
    waiting.append(id)
    if obtaining != nil { return [] }
    lastGrant += 1
    obtaining = lastGrant
    return [.obtain(lastGrant, insteadOf: refused)]
  }

  /// Receives a grant, and sends the requests that wait for it.
  mutating func obtained(_ number: Int, _ credentials: HeaderFields) -> [Step] {
    guard let waiting = takeWaiting(number) else { return [] }
    held = Held(number: number, credentials: credentials)
    return waiting.flatMap { ask($0) }
  }

  /// Fails the requests that wait for a grant that could not be obtained.
  mutating func failed(_ number: Int) -> [Step] {
    guard let waiting = takeWaiting(number) else { return [] }
    return waiting.filter { requests.removeValue(forKey: $0) != nil }.map { .fail($0) }
  }

  /// Records that a request was answered as only a good grant is.
  mutating func accepted(_ id: Int) -> [Step] {
    guard let request = requests.removeValue(forKey: id),
      case .sent(let number, let event) = request.place, held?.number == number
    else { return [] }
    held?.openCount -= 1
    held?.isProven = true
    fruitlessCount = 0
    hasAccepted = true
    standing[request.resource] = nil
    return passSuspended(before: event) + settle()
  }

  /// Records that a request was answered with 401.
  mutating func refused(_ id: Int, at now: Duration) -> [Step] {
    guard let request = requests[id], case .sent(let number, _) = request.place else { return [] }
    requests[id]?.refusalCount += 1
    guard let held, held.number == number else { return ask(id) }
    self.held?.openCount -= 1
    if let since = standing[request.resource], now - since < Self.memory {
      requests[id] = nil
      return [.pass(id)] + settle()
    }
    if request.refusalCount == 0 { return replaceGrant(for: [id]) }
    lastEvent += 1
    requests[id]?.place = .suspended(event: lastEvent, since: now)
    self.held?.suspended.append(id)
    return settle() + watch()
  }

  /// Records that a request ended in another way, or that its caller left.
  mutating func left(_ id: Int) -> [Step] {
    guard let request = requests.removeValue(forKey: id) else { return [] }
    if case .sent(let number, _) = request.place, held?.number == number { held?.openCount -= 1 }
    return settle()
  }

  /// Decides about the requests that have waited for a witness for a while.
  mutating func noWitness(for number: Int) -> [Step] {
    guard held?.number == number else { return [] }
    held?.isWatched = false
    return settle(isLate: true)
  }

  /// Forgets all grants and requests of the session, and begins another.
  mutating func endSession() {
    var next = CredentialRenewal()
    next.session = session + 1
    (next.lastRequest, next.lastGrant, next.lastEvent) = (lastRequest, lastGrant, lastEvent)
    self = next
  }
}

extension CredentialRenewal {
  private mutating func takeWaiting(_ number: Int) -> [Int]? {
    guard obtaining == number else { return nil }
    defer { (obtaining, waiting) = (nil, []) }
    return waiting
  }

  /// Passes on the 401s that arrived before an accepted request was sent.
  private mutating func passSuspended(before event: Int) -> [Step] {
    let suspended = held?.suspended ?? []
    let guilty = suspended.prefix { id in
      if case .suspended(let refusal, _) = requests[id]?.place { refusal < event } else { true }
    }
    held?.suspended.removeFirst(guilty.count)
    return guilty.flatMap { pass($0) }
  }

  /// Decides about the requests that wait for a witness, if none is possible any more.
  private mutating func settle(isLate: Bool = false) -> [Step] {
    guard let held, !held.suspended.isEmpty, held.openCount == 0 || isLate else { return [] }
    let suspended = held.suspended.filter { requests[$0] != nil }
    self.held?.suspended = []
    let guilty = guiltyResources(among: suspended)
    var passed: [Step] = []
    var others: [Int] = []
    for id in suspended {
      if guilty.contains(requests[id]?.resource ?? "") {
        passed += pass(id)
      } else {
        others.append(id)
      }
    }
    return others.isEmpty ? passed : passed + replaceGrant(for: others)
  }

  /// Returns the resources whose 401s become final although there is no witness against them.
  private mutating func guiltyResources(among suspended: [Int]) -> Set<String> {
    var seen: Set<String> = []
    let resources = suspended.compactMap { requests[$0]?.resource }.filter {
      seen.insert($0).inserted
    }
    if resources.count < 2 {
      let isTried = suspended.contains { requests[$0]?.trialCount ?? 0 >= Self.trialLimit }
      for id in suspended { requests[id]?.trialCount += 1 }
      return hasAccepted && !isTried ? [] : Set(resources)
    }
    guard held?.isProven == false else { return [] }
    // The grant was newest for the resources that were refused first. First one by one, then twice
    // as many each time, so that the number of grants stays small for any number of such resources.
    defer { fruitlessCount += 1 }
    return fruitlessCount == 0
      ? [] : Set(resources.prefix(1 << min(max(0, fruitlessCount - 3), 16)))
  }

  private mutating func watch() -> [Step] {
    guard let held, !held.suspended.isEmpty, !held.isWatched else { return [] }
    self.held?.isWatched = true
    return [.watch(held.number)]
  }

  /// Obtains another grant for these requests and for those that wait for a witness.
  private mutating func replaceGrant(for ids: [Int]) -> [Step] {
    guard let held else { return [] }
    refused = held.credentials
    self.held = nil
    // The requests with the fewest refusals first: they are the least likely to be refused again.
    let asking = (ids + held.suspended).compactMap { id in
      requests[id].map { (id, $0.refusalCount) }
    }
    return asking.sorted { $0.1 < $1.1 }.flatMap { ask($0.0) }
  }

  private mutating func pass(_ id: Int) -> [Step] {
    guard let request = requests.removeValue(forKey: id) else { return [] }
    if case .suspended(_, let since) = request.place { remember(request.resource, since) }
    return [.pass(id)]
  }

  private mutating func remember(_ resource: String, _ now: Duration) {
    if standing.count >= Self.memoryLimit {
      standing = standing.filter { now - $0.value < Self.memory }
      if standing.count >= Self.memoryLimit { standing = [:] }
    }
    standing[resource] = now
  }
}
