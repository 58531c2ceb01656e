public import MillpondCore
public import MillpondSignals

/// A cache that keeps what it is given, but whose outcomes don't come when they should.
///
///     let slow = ImpoliteCache(TestCache<String, Int>(), .neverEnds)
///     let cache = memory.layered(over: slow).mapKeys(asynchronously: { $0 })
///     cache.set(1, for: "a")                      // no outcome comes
///     #expect(try await cache.get("a").value == 1)  // a get must not wait for it
///
/// Put it under a composition of yours, to see that nothing there relies on outcomes.
///
/// - Note: Any thread.
public final class ImpoliteCache<Base: Cache>: Cache {
  /// What becomes of writes and fills.
  public enum Manner: Sendable, CaseIterable {
    /// Each is carried out at once; its outcome stays pending for ever.
    case neverEnds

    /// Each is carried out at once; its outcome fails with ``ImpoliteCacheError/late`` when
    /// ``release()`` is called.
    case failsLate

    /// Each outcome succeeds at once; what it reports is carried out when ``release()`` is called, the
    /// latest first.
    case storesLate
  }

  private let base: Base
  private let manner: Manner
  private let held = Locked<[HeldBack]>([])

  /// A cache that keeps what it is given in `base`.
  public init(_ base: Base, _ manner: Manner) {
    self.base = base
    self.manner = manner
  }

  /// How many writes and fills, or outcomes, are held back.
  public var heldCount: Int {
    held.withLock { $0.count }
  }

  /// The base's answer.
  public func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    base.get(key, lookup)
  }

  /// The base's answer.
  public func getStamped(_ key: Base.Key, _ lookup: Lookup) -> Signal<Stamped<Base.Value>> {
    base.getStamped(key, lookup)
  }

  /// Writes to the base, in its manner.
  public func apply(_ change: Change<Base.Key, Base.Value>) -> Signal<Void> {
    switch manner {
    case .neverEnds:
      _ = base.apply(change)
      return .never
    case .failsLate:
      _ = base.apply(change)
      let outcome = Promise<Void>()
      hold { outcome.keep(by: .fail(ImpoliteCacheError.late)) }
      return outcome.outcome
    case .storesLate:
      let change = change.accepted
      let pending = change.revision.map { PendingWrite($0) }
      hold { [base] in
        _ = base.apply(change)
        pending?.end()
      }
      return .just(())
    }
  }

  /// Does what was held back until now, the latest first.
  public func release() {
    let all = held.withLock { held in
      defer { held = [] }
      return held
    }
    for one in all.reversed() { one.run() }
  }

  private func hold(_ run: @escaping @Sendable () -> Void) {
    held.withLock { $0.append(HeldBack(run: run)) }
  }

  /// As the base.
  public func layout(for key: Base.Key?) -> Layout {
    base.layout(for: key)
  }
}

/// What an ``ImpoliteCache`` fails with.
public enum ImpoliteCacheError: Error, Sendable, Hashable {
  /// The outcome was held back, and is a failure.
  case late
}

private struct HeldBack: Sendable {
  let run: @Sendable () -> Void
}
