public import MillpondCore
public import MillpondSignals

extension Cache {
  /// Layers this cache over `lower`, and lets only one process at a time fetch a key from there.
  ///
  ///     let people = shared.mapValues(.json(Person.self))
  ///     let cache = memory.following(shared)
  ///       .layered(over: people.layered(over: api, leasing: shared))
  ///       .reusingInFlight()
  ///
  /// A process that misses a key takes a lease of it on the server, and fetches. Others that miss
  /// it meanwhile wait for the value, or for the end of the lease, and ask again. The lease ends
  /// when the value is stored, when the fetch has failed or was cancelled, or after `time`, so a
  /// process that dies or takes too long delays the others no longer than that. Without a
  /// connection every process fetches by itself, and so does a get with `Freshness.reload`.
  ///
  /// Apply `reusingInFlight()` above, so that the gets of one process are one.
  ///
  /// - Parameters:
  ///   - lower: The source to fetch from.
  ///   - shared: The cache on the server, of which this is a form.
  ///   - time: The longest time for which one process keeps the others waiting; it should be longer
  ///     than most fetches, and is at least a millisecond.
  ///   - key: Returns the key in `shared`. Two keys with the same result share a lease.
  public func layered<Lower: Source<Key, Value>>(
    over lower: Lower, leasing shared: RedisCache, for time: Duration = .seconds(10),
    by key: @escaping @Sendable (Key) -> String
  ) -> Leased<Self, Lower> {
    Leased(self, over: lower, RedisLeases(shared, time), by: key)
  }
}

extension Cache where Key == String {
  /// Layers this cache over `lower`, and lets only one process at a time fetch a key from there.
  ///
  /// The same as ``layered(over:leasing:for:by:)`` for equal keys.
  ///
  /// - Parameters:
  ///   - lower: The source to fetch from.
  ///   - shared: The cache on the server, of which this is a form.
  ///   - time: The longest time for which one process keeps the others waiting.
  public func layered<Lower: Source<Key, Value>>(
    over lower: Lower, leasing shared: RedisCache, for time: Duration = .seconds(10)
  ) -> Leased<Self, Lower> {
    layered(over: lower, leasing: shared, for: time) { $0 }
  }
}

/// A cache over a source from which one process at a time fetches a key.
public struct Leased<Upper: Cache, Lower: Source>: Cache, AnsweringSource
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// The key type of both layers.
  public typealias Key = Upper.Key

  /// The value type of both layers.
  public typealias Value = Upper.Value

  let upper: Upper
  let lower: Lower
  let layers: Layered<Upper, Lower>
  let leases: RedisLeases
  let key: @Sendable (Key) -> String

  /// The name under which the upper layer is reported; nil if it reports by itself.
  let label: String?

  init(
    _ upper: Upper, over lower: Lower, _ leases: RedisLeases,
    by key: @escaping @Sendable (Key) -> String
  ) {
    self.upper = upper
    self.lower = lower
    layers = upper.layered(over: lower)
    self.leases = leases
    self.key = key
    label = upper.ownLabel
  }

  /// Returns the upper layer's answer, or the lower one's under a lease.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    if lookup.freshness == .reload || lookup.freshness == .cachedOnly {
      return layers.answers(key, lookup)
    }
    return Signal { observer, lifetime in
      LeasedGet(self, key, lookup, observer, lifetime).start()
    }
  }

  /// Returns the upper layer's immediate value.
  public func now(_ key: Key, _ lookup: Lookup) -> Value? { layers.now(key, lookup) }

  /// Writes to both layers.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> { layers.apply(change) }

  /// Both layers, under a lease.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, "leased for \(leases.time.brief)", of: layers.topology(for: key))
  }
}

/// A get that asks the upper layer, takes the lease or waits and asks again, and fetches.
private final class LeasedGet<Upper: Cache, Lower: Source>: Sendable
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  private let whole: Leased<Upper, Lower>
  private let key: Upper.Key
  private let name: String
  private let lookup: Lookup
  private let observer: Observer<Answer<Upper.Value>>
  private let lifetime: Lifetime

  /// The caller's context; answers of the server arrive on the client's thread.
  private let caller = WorkContext.current

  init(
    _ whole: Leased<Upper, Lower>, _ key: Upper.Key, _ lookup: Lookup,
    _ observer: Observer<Answer<Upper.Value>>, _ lifetime: Lifetime
  ) {
    self.whole = whole
    self.key = key
    self.lookup = lookup
    self.observer = observer
    self.lifetime = lifetime
    name = whole.key(key).keyText
  }

  func start() {
    // A miss is reported when the layer is asked for the last time.
    let reports = DeferredReports(of: lookup)
    let (isAnswered, reason) = (Locked(false), Locked<Answer<Upper.Value>?>(nil))
    let asking = lifetime.child()
    whole.upper.layerAnswer(key, reports?.lookup ?? lookup) { [whole] in whole.label }
      .found(noting: reason).run(
        Observer(
          next: { answer in
            isAnswered.withLock { $0 = true }
            reports?.passOn()
            self.observer.next(answer)
          },
          other: { event in
            guard event.isTerminal else { return self.observer.other(event) }
            asking.end()
            if self.lifetime.isEnded { return }
            if isAnswered.withLock({ $0 }) { return self.observer.other(event) }
            let reason = reason.withLock { $0 }
            guard case .failed(let error) = event else { return self.take(reports, reason) }
            // A layer that fails says nothing about other processes.
            reports?.passOn()
            self.fetch(.asked(reason, error))
          }), asking)
  }

  private func take(_ reports: DeferredReports?, _ reason: Answer<Upper.Value>?) {
    // Before the lease is asked for: what happens from then on is noticed.
    let (changed, waiting) = (Promise<Void>(), lifetime.child())
    whole.leases.follow(name, during: waiting) { changed.end() }
    whole.leases.take(name) { result in
      switch result {
      case .busy:
        let again = Observer<Void>(
          next: {
            waiting.end()
            WorkContext.run(in: self.caller) { self.start() }
          }, other: { _ in })
        changed.outcome.run(again, waiting)
      case .taken(let token):
        waiting.end()
        let lease = HeldLease(self.whole.leases, self.name, token)
        if self.lifetime.isEnded { return lease.finish() }
        self.lifetime.onEnd { lease.finish() }
        // Another process may have stored the value before the lease was taken.
        self.fetch(.leased(lease))
      case .unavailable:
        waiting.end()
        if self.lifetime.isEnded { return }
        reports?.passOn()
        self.fetch(.asked(reason, nil))
      }
    }
  }

  /// Asks the lower layer, and before it the upper one again if there is a lease.
  private func fetch(_ fetching: LeaseFill<Upper>.Fetching) {
    let upper = LeaseFill(base: whole.upper, fetching: fetching)
    let isAnswered = Locked(false)
    let receiver = Observer<Answer<Upper.Value>>(
      next: { answer in
        if answer.isFound { isAnswered.withLock { $0 = true } }
        self.observer.next(answer)
      },
      other: { event in
        if event.isTerminal { upper.lease?.finish() }
        if case .completed = event, let failure = upper.failure, !isAnswered.withLock({ $0 }) {
          return self.observer.failed(failure)
        }
        self.observer.other(event)
      })
    WorkContext.run(in: caller) {
      upper.layered(over: whole.lower).answers(key, lookup).run(receiver, lifetime)
    }
  }
}

/// The upper layer of a fetch, which tells the lease about the value that is stored: codecs that
/// work in tasks store it after the answer.
private struct LeaseFill<Base: Cache>: Cache, AnsweringSource {
  typealias Key = Base.Key
  typealias Value = Base.Value

  enum Fetching: Sendable {
    case leased(HeldLease)

    /// Without a lease, since the layer, which was asked and has reported, or the server failed; with
    /// the reason why the layer has no value, and its failure.
    case asked(Answer<Base.Value>?, (any Error)?)
  }

  let base: Base
  let fetching: Fetching

  var lease: HeldLease? {
    if case .leased(let lease) = fetching { lease } else { nil }
  }

  var failure: (any Error)? {
    if case .asked(_, let failure) = fetching { failure } else { nil }
  }

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    guard case .asked(let reason, _) = fetching else { return base.answers(key, lookup) }
    return reason.map { .just($0) } ?? .empty
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    lease?.wait(for: outcome)
    return outcome
  }

  func topology(for key: Key?) -> Topology {
    let topology = base.topology(for: key)
    if lease != nil { return topology }
    return Topology(.wrapper, "write only", parts: [topology], isReported: true)
  }
}
