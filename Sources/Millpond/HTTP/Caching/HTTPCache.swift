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
/// Callers that ask for the same at the same time share one request; one with `no-cache` is shared
/// with no other. Only what has arrived as a whole is stored. A store that fails counts as empty.
/// Removing everything from the store, as at the end of a `CacheScope` that includes it, wins over
/// all transfers that began before.
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
  ///   - byteLimit: The greatest size of a body that is stored, in bytes. As much is in memory
  ///     while it arrives; a larger body is passed on only.
  ///   - hashKey: A secret key for the hashes that stand for credentials and queries in the store;
  ///     nil hashes them without one, so that whoever has the store can check a guess. A store that
  ///     was filled with another key misses.
  ///   - onDecision: Receives each decision about a request, and about the storing of its answer,
  ///     on the thread that makes it. It should return soon.
  ///   - now: The time of the calendar, by which ages are measured; nil for that of the system.
  public init(
    over base: any HTTPTransport, in store: any Cache<String, HTTPCacheRecord>,
    rules: HTTPCacheRules = .standard, byteLimit: Int = 16 << 20, hashKey: Data? = nil,
    onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)? = nil,
    now: (@Sendable () -> Date)? = nil
  ) {
    core = HTTPCacheCore(
      OriginTransfers(
        base: base, store: ResponseStore(records: store, hashKey: hashKey), rules: rules,
        byteLimit: max(0, byteLimit), clock: now, onDecision: onDecision))
  }

  /// Creates a cache over a transport, whose store keeps bytes, as a ``DiskCache`` does.
  ///
  /// - Parameters:
  ///   - base: The transport to the origin.
  ///   - store: The store, whose values are read and written with `Codec.httpRecords`.
  ///   - rules: The rules.
  ///   - byteLimit: The greatest size of a body that is stored, in bytes.
  ///   - hashKey: A secret key for the hashes that stand for credentials and queries in the store;
  ///     nil for none.
  ///   - onDecision: Receives each decision, on the thread that makes it.
  ///   - now: The time of the calendar, by which ages are measured; nil for that of the system.
  public init(
    over base: any HTTPTransport, in store: some Cache<String, Data>,
    rules: HTTPCacheRules = .standard, byteLimit: Int = 16 << 20, hashKey: Data? = nil,
    onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)? = nil,
    now: (@Sendable () -> Date)? = nil
  ) {
    self.init(
      over: base, in: store.mapValues(.httpRecords), rules: rules, byteLimit: byteLimit,
      hashKey: hashKey, onDecision: onDecision, now: now)
  }

  /// Answers from the store, from the base, or with 504 if the request accepts only what is stored
  /// and nothing fits.
  public func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    let answer = Signal { [core] observer, lifetime in
      let request = request.adding(core.transfers.base.capabilities)
      HTTPCacheExchange(core, request, observer, lifetime).start()
    }
    // Others may share the transfer, and the session of the base has others still.
    return request.isStreamed
      ? answer.decoupled(waitingLimit: URLSessionTransport.waitingLimit) : answer
  }

  /// Those of the base, and this cache.
  public var capabilities: TransportCapabilities {
    let base = core.transfers.base.capabilities
    return TransportCapabilities(
      appliesBackpressure: base.appliesBackpressure, addedFields: base.addedFields, cache: self)
  }

  /// Ends the refreshes, and lets no caller join a transfer that has begun.
  func leaveTransfers() { core.leaveTransfers() }

  /// Returns the decision about a request as it would be made now, without acting on it.
  public func decision(for request: HTTPRequest) -> Signal<HTTPCacheDecision> {
    let parsed = ParsedRequest(
      request.adding(core.transfers.base.capabilities), core.transfers.store.hashKey)
    return core.transfers.store.heads(request.url.cacheKey).map { [core] heads in
      core.transfers.decision(
        for: parsed, stored: heads.selected(by: parsed), at: core.transfers.wallTime())
    }
  }
}
