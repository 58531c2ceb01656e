public import Dispatch
public import MillpondSignals

/// A source or cache whose gets pass a policy: a limit, repetitions, a condition.
///
/// The result of ``Source/timingOut(after:awaiting:clock:)``, ``Source/retrying(_:clock:)``,
/// ``Source/limited(to:reserved:maxWaiting:)``,
/// ``Source/rateLimited(to:per:burst:maxWaiting:clock:)``,
/// ``Source/circuitBreaking(afterFailures:for:counting:clock:)``,
/// `conditioned`, ``Source/delivered(on:)`` and ``Source/stoppable()``.
public struct Governed<Base: Source>: GetWrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let policy: GetPolicy<Key>

  init(_ base: Base, by policy: GetPolicy<Key>) {
    self.base = base
    self.policy = policy
  }

  @usableFromInline var title: String { policy.title }

  /// Returns the base's immediate value, unless the policy holds it back.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    policy.admitsNow(key) ? base.now(key, lookup) : nil
  }

  /// The base and the policy.
  public func topology(for key: Key?) -> Topology {
    let inside = base.topology(for: key)
    switch policy {
    case .stop(let running):
      return Topology(.wrapper, title, parts: [inside], stop: { running.stop(by: $0) })
    case .breaker(let breaker):
      return Topology(.wrapper, title, of: inside).breaking { breaker.remaining }
    default: return Topology(.wrapper, title, of: inside)
    }
  }

  /// Returns the base's answer, as the policy lets it pass.
  @inlinable
  func answer<Element>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element> {
    policy.answer(to: key, lookup, in: { base.layerLabel }, ask)
  }
}

extension Governed: Cache where Base: Cache {}

/// A policy for the gets of a ``Governed``.
@usableFromInline
enum GetPolicy<Key: Hashable & Sendable>: Sendable {
  case timeout(Duration, awaiting: TimeoutAwaited, any Clock<Duration>)
  case retry(RetryPolicy, any Clock<Duration>)
  case turns(any TurnLimiter)
  case breaker(CircuitBreaker)
  case condition(@Sendable (Key) throws -> Bool)
  case lateCondition(@Sendable (Key) async throws -> Bool)
  case queue(DispatchQueue)
  case stop(RunningGets)

  /// A short description.
  var title: String {
    switch self {
    case .timeout(let limit, _, _): "timing out after \(limit.brief)"
    case .retry: "retrying"
    case .turns(let limiter): limiter.title
    case .breaker(let breaker): breaker.title
    case .condition, .lateCondition: "conditioned"
    case .queue(let queue): "delivered on \(queue.label)"
    case .stop: "stoppable"
    }
  }

  /// Whether an immediate value of the base may be the answer; the get that follows otherwise asks
  /// the policy again.
  @inlinable
  func admitsNow(_ key: Key) -> Bool {
    switch self {
    case .timeout, .retry, .turns, .breaker: true
    case .condition(let condition): (try? condition(key)) == true
    case .lateCondition, .queue: false
    case .stop(let running): !running.isStopped
    }
  }

  /// Returns the answer to a get.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - layer: Returns the label of the base, for errors.
  ///   - ask: Makes the get of the base.
  @inlinable
  func answer<Element>(
    to key: Key, _ lookup: Lookup, in layer: @escaping @Sendable () -> String,
    _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element> {
    let name: @Sendable () -> String = { String(withoutSecrets: key) }
    switch self {
    case .timeout(let limit, let awaited, let clock):
      return .deferred(ask).timeout(limit, awaiting: awaited, clock: clock, key: name)
    case .retry(let policy, let clock):
      return .withCaller { .deferred(ask).inContext(of: $0).retry(policy, clock: clock) }
    case .turns(let limiter): return .inTurn(of: limiter, lookup, ask, key: name)
    case .breaker(let breaker):
      if case .cachedOnly = lookup.freshness { return .deferred(ask) }
      return breaker.answer(of: layer, lookup, ask)
    case .condition(let condition):
      return .deferred { .attempt { try condition(key) ? ask() : refusal(of: key) } }
    case .lateCondition(let condition):
      return Signal<Bool>.async { try await condition(key) }
        .flatMap { $0 ? ask() : refusal(of: key) }
    case .queue(let queue):
      return Signal { observer, lifetime in
        let asking = observer.inContext(of: WorkContext.current)
        Signal.deferred(ask).receive(on: queue).run(asking, lifetime)
      }
    case .stop(let running): return running.admit(.deferred(ask), key: name)
    }
  }

  @usableFromInline
  func refusal<Element>(of key: Key) -> Signal<Element> {
    .fail(CacheError.refused(key: String(withoutSecrets: key)))
  }
}
