public import MillpondCore
public import MillpondSignals

/// A cache that keeps its values, but whose outcomes arrive at the wrong time.
///
///     let slow = ImpoliteCache(TestCache<String, Int>(), .neverEnds)
///     let cache = memory.layered(over: slow).reusingInFlight()
///     cache.set(1, for: "a")                      // no outcome comes
///     #expect(try await cache.get("a").value == 1)  // a get must not wait for it
///
/// Put it under a composition to test that nothing there relies on outcomes.
///
/// - Note: Any thread.
public final class ImpoliteCache<Base: Cache>: Cache {
  /// The treatment of writes and fills.
  public enum Manner: Sendable, CaseIterable {
    /// Each change is carried out at once; its outcome stays pending for ever.
    case neverEnds

    /// Each change is carried out at once; its outcome fails with ``ImpoliteCacheError/late`` on
    /// ``release()``.
    case failsLate

    /// Each outcome succeeds at once; ``release()`` carries out the changes, the latest first.
    case storesLate
  }

  private let base: Base
  private let manner: Manner
  private let held = Locked<[@Sendable () -> Void]>([])

  /// Creates a cache that keeps its values in `base`.
  ///
  /// - Parameters:
  ///   - base: The cache that keeps the values.
  ///   - manner: The way in which its outcomes arrive.
  public init(_ base: Base, _ manner: Manner) {
    self.base = base
    self.manner = manner
  }

  /// The number of changes, or outcomes, that are held back.
  public var heldCount: Int {
    held.withLock { $0.count }
  }

  /// Returns the base's answer.
  public func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    base.get(key, lookup)
  }

  /// Returns the base's answer.
  public func answers(_ key: Base.Key, _ lookup: Lookup) -> Signal<Answer<Base.Value>> {
    base.answers(key, lookup)
  }

  /// Applies the change to the base, as the manner says.
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

  /// Releases everything that is held back, the latest first.
  public func release() {
    for one in held.withLock({ exchange(&$0, with: []) }).reversed() { one() }
  }

  private func hold(_ run: @escaping @Sendable () -> Void) {
    held.withLock { $0.append(run) }
  }

  /// Returns the base's topology.
  public func topology(for key: Base.Key?) -> Topology {
    base.topology(for: key)
  }
}

/// The error of an ``ImpoliteCache``.
public enum ImpoliteCacheError: Error, Sendable, Hashable {
  /// The outcome was held back, and is a failure.
  case late
}
