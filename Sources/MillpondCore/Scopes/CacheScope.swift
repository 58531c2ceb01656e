public import MillpondSignals

/// What belongs together and ends together: all that was cached for a signed-in user, say.
///
///     let session = CacheScope()
///     let profiles = memory.layered(over: disk.layered(over: api)).reusingInFlight()
///       .scoped(to: session)
///     session.end()  // at sign-out
///
/// It can be ended again and again: what is asked afterwards belongs to the next user.
///
/// - Note: Any thread.
public final class CacheScope: Sendable {
  private let state = Locked(ScopeState())

  /// A scope of nothing yet.
  public init() {}

  /// Ends it: at its return all caches in it are told to keep nothing, no earlier flight can be
  /// joined, store anything or be waited for.
  ///
  /// Those who wait get ``CacheError/scopeEnded`` before this returns; one whose callback runs on
  /// another thread meanwhile gets it right after that callback.
  ///
  /// - Returns: The outcome of the removals, replayed: every cache is told, also if others fail, and
  ///   the first failure is reported. Disposing of it cancels nothing.
  /// - Complexity: O(*n*) in the caches and those who wait.
  @discardableResult
  public func end() -> Signal<Void> {
    // Wiped first: whoever asks again from within a failure must not find the former user's data.
    let outcomes = state.withLock { $0.caches }.map { $0.removeAll() }
    for asker in state.withLock({ $0.takeAskers() }) { asker.fail() }
    return Signal.merge(outcomes.map { $0.settle() }).collect().attemptMap { results in
      for result in results { try result.get() }
    }.started()
  }

  func add(_ removeAll: @escaping @Sendable () -> Signal<Void>) {
    state.withLock { $0.caches.append(ScopedCache(removeAll: removeAll)) }
  }

  /// The signal, or ``CacheError/scopeEnded`` if the scope ends before that does.
  @usableFromInline
  func untilEnd<Answer>(_ signal: Signal<Answer>) -> Signal<Answer> {
    Signal { observer, lifetime in
      let serializer = Serializer(observer)
      let upstream = lifetime.child()
      self.enter(upstream) {
        upstream.end()
        serializer.send(.failed(CacheError.scopeEnded))
      }
      signal.run(
        Observer(
          next: { if !upstream.isEnded { serializer.send(.next($0)) } },
          other: { event in
            if upstream.isEnded { return }
            if event.isTerminal { upstream.end() }
            serializer.send(event.typed())
          }), upstream)
    }
  }

  /// Lets an asker be failed by the end, until `lifetime` ends.
  private func enter(_ lifetime: Lifetime, _ fail: @escaping @Sendable () -> Void) {
    let number = state.withLock { $0.enter(ScopedAsker(fail: fail)) }
    lifetime.onEnd { [state] in
      let gone = state.withLock { $0.askers.removeValue(forKey: number) }
      _ = gone  // released here, not under the lock
    }
  }
}

/// Who has to be told of the end.
private struct ScopeState: Sendable {
  var caches: [ScopedCache] = []
  var askers: [Int: ScopedAsker] = [:]
  private var lastNumber = 0

  mutating func enter(_ asker: ScopedAsker) -> Int {
    lastNumber += 1
    askers[lastNumber] = asker
    return lastNumber
  }

  mutating func takeAskers() -> [ScopedAsker] {
    defer { askers = [:] }
    return Array(askers.values)
  }
}

private struct ScopedCache: Sendable {
  let removeAll: @Sendable () -> Signal<Void>
}

private struct ScopedAsker: Sendable {
  let fail: @Sendable () -> Void
}
