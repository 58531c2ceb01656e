public import Foundation
public import MillpondCore
public import MillpondSignals

/// A transport that answers from stored responses as a private HTTP cache does, and stores what
/// another transport brings.
///
///     let disk = DiskCache(directory: folder, byteLimit: .mebibytes(256))
///     let photos = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: disk))
///
/// A fresh response is the answer without a request; a stale one is validated, and a 304 makes it
/// fresh again without moving its body. The origin's `Cache-Control`, `Expires`, `Age`, `Vary` and
/// validators are obeyed, and so are the `Cache-Control` and the conditions of a request:
/// ``HTTPCacheRules`` decides, and <doc:HTTPCaching> says which rule applies when. Values of an
/// ``HTTPSource`` over this cache have the age and the time to live that the origin gave them, so
/// that caches above keep them no longer.
///
/// Callers that ask for the same at the same time share one request. Only what has arrived as a
/// whole is stored. A store that fails counts as empty. Removing everything from the store, as at
/// the end of a `CacheScope` that includes it, wins over all transfers that began before.
///
/// - Note: Any thread. A stored response arrives inside the subscription if the store answers
///   immediately.
/// - Source: RFC 9111, RFC 5861, RFC 8246.
public struct HTTPCache: HTTPTransport {
  private let core: HTTPCacheCore

  /// Creates a cache over a transport.
  ///
  /// - Parameters:
  ///   - base: The transport to the origin.
  ///   - store: The store. Its keys begin with "heads " and "body ", so it may have other values
  ///     too. It should have no time to live of its own: stale responses can be validated.
  ///   - rules: The rules.
  ///   - byteLimit: The greatest size of a body that is stored, in bytes. As much is in memory while
  ///     it arrives; a larger body is passed on only.
  ///   - onDecision: Receives each decision about a request, and about the storing of its answer,
  ///     on the thread that makes it. It should return soon.
  ///   - now: The time of the calendar, by which ages are measured; nil for that of the system.
  public init(
    over base: any HTTPTransport, in store: any Cache<String, HTTPCacheRecord>,
    rules: HTTPCacheRules = .standard, byteLimit: Int = 16 << 20,
    onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)? = nil,
    now: (@Sendable () -> Date)? = nil
  ) {
    core = HTTPCacheCore(
      base, ResponseStore(records: store),
      HTTPCacheTerms(
        rules: rules, byteLimit: max(0, byteLimit), clock: now, onDecision: onDecision))
  }

  /// Creates a cache over a transport, whose store keeps bytes, as a ``DiskCache`` does.
  ///
  /// - Parameters:
  ///   - base: The transport to the origin.
  ///   - store: The store, whose values are read and written with `Codec.httpRecords`.
  ///   - rules: The rules.
  ///   - byteLimit: The greatest size of a body that is stored, in bytes.
  ///   - onDecision: Receives each decision, on the thread that makes it.
  ///   - now: The time of the calendar, by which ages are measured; nil for that of the system.
  public init(
    over base: any HTTPTransport, in store: some Cache<String, Data>,
    rules: HTTPCacheRules = .standard, byteLimit: Int = 16 << 20,
    onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)? = nil,
    now: (@Sendable () -> Date)? = nil
  ) {
    self.init(
      over: base, in: store.mapValues(.httpRecords), rules: rules, byteLimit: byteLimit,
      onDecision: onDecision, now: now)
  }

  /// Answers from the store, from the base, or with 504 if the request accepts only what is stored
  /// and nothing fits.
  public func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal { [core] observer, lifetime in
      CacheExchange(core, request, observer, lifetime).start()
    }
  }

  /// Whether the base applies backpressure.
  public var appliesBackpressure: Bool { core.base.appliesBackpressure }

  /// Returns the decision about a request as it would be made now, without acting on it.
  public func decision(for request: HTTPRequest) -> Signal<HTTPCacheDecision> {
    let terms = RequestTerms(request)
    return core.store.heads(request.url.cacheKey).map { [core] heads in
      core.terms.rules.decision(
        for: terms, stored: heads.selected(by: terms), at: core.terms.now())
    }
  }
}

/// The terms of an HTTP cache.
struct HTTPCacheTerms: Sendable {
  let rules: HTTPCacheRules
  let byteLimit: Int
  let clock: (@Sendable () -> Date)?
  let onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)?

  func now() -> WallTime { clock.map { WallTime($0()) } ?? .now }

  func tell(_ request: HTTPRequest, _ decision: HTTPCacheDecision) {
    onDecision?(request, decision)
  }
}

/// The store, the transfers and the refreshes of an HTTP cache; its release ends the refreshes.
final class HTTPCacheCore: Sendable {
  let base: any HTTPTransport
  let store: ResponseStore
  let terms: HTTPCacheTerms

  /// The transfers for one caller each, and those that callers of the same request share.
  let transfers: OriginTransfers
  let sharedTransfers: InFlightReuse<OriginTransfers>
  private let refreshes = Locked<[OriginRequest: Lifetime]>([:])

  init(_ base: any HTTPTransport, _ store: ResponseStore, _ terms: HTTPCacheTerms) {
    self.base = base
    self.store = store
    self.terms = terms
    transfers = OriginTransfers(base: base, store: store, terms: terms)
    sharedTransfers = transfers.reusingInFlight()
  }

  deinit {
    for lifetime in refreshes.withLock({ Array($0.values) }) { lifetime.end() }
  }

  /// The greatest number of refreshes at a time, and the time after which one is given up.
  private static let refreshLimit = 16
  private static let refreshTime = Duration.seconds(60)

  /// Asks the origin for a newer response without a caller, unless that is under way.
  func refresh(_ question: OriginRequest) {
    let lifetime = refreshes.withLock { refreshes -> Lifetime? in
      if refreshes.count >= Self.refreshLimit || refreshes[question] != nil { return nil }
      let lifetime = Lifetime()
      refreshes[question] = lifetime
      return lifetime
    }
    guard let lifetime else { return }
    lifetime.onEnd { [weak self] in
      _ = self?.refreshes.withLock { $0.removeValue(forKey: question) }
    }
    sharedTransfers.getStamped(question, Lookup(priority: .low))
      .timeout(Self.refreshTime, awaiting: .end)
      .run(
        Observer(next: { _ in }, other: { if $0.isTerminal { lifetime.end() } }), lifetime)
  }
}
