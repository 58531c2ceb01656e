public import MillpondCore
import MillpondSignals

/// The laws of caches and of their composition, as checks that run on random histories.
///
///     let laws = CacheLaws(keys: ["a", "b", "c"], values: [1, 2, 3, 4]) { MyCache() }
///     let breaches = await laws.breaches()
///     #expect(breaches.isEmpty)  // in two steps, so that a failure shows them
///
/// A history is a list of steps: gets of every freshness, writes, gets that are left, layers and
/// origins that fail, or hold back their answers and give them in another order. A history that
/// breaks a law is made as short as possible; the breach describes it step by step, with its seed.
///
/// The cache is made anew for each history and may answer on any thread. Only the checks write to
/// it. It should have room for all values.
///
/// - Note: Checks of a cache that answers inside `subscribe` are exactly repeatable.
public struct CacheLaws<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
  let keys: [Key]
  let values: [Value]
  let timeLimit: Duration
  let make: @Sendable (TestOrigin<Key, Value>) -> AnyCache<Key, Value>

  /// Creates the checks of a cache.
  ///
  /// - Parameters:
  ///   - keys: The keys to use; a few, different in every layer.
  ///   - values: The values to store; more distinct values reveal more.
  ///   - timeLimit: The time to wait for a required event before its absence counts as a breach.
  ///   - make: Makes a new cache that no other code uses.
  public init<Subject: Cache<Key, Value>>(
    keys: [Key], values: [Value], timeLimit: Duration = Watchdog.limit,
    of make: @escaping @Sendable () -> Subject
  ) {
    self.init(keys: keys, values: values, timeLimit: timeLimit, composing: { _ in make() })
  }

  /// Creates the checks of a composition over an origin, whose answers the checks control.
  ///
  /// - Parameters:
  ///   - keys: The keys to use; a few, different in every layer.
  ///   - values: The values to store; more distinct values reveal more.
  ///   - timeLimit: The time to wait for a required event before its absence counts as a breach.
  ///   - make: Makes a new composition over the given origin.
  public init<Subject: Source<Key, Value>>(
    keys: [Key], values: [Value], timeLimit: Duration = Watchdog.limit,
    composing make: @escaping @Sendable (TestOrigin<Key, Value>) -> Subject
  ) {
    precondition(!keys.isEmpty && !values.isEmpty, "a history needs a key and a value")
    self.keys = keys
    self.values = values
    self.timeLimit = timeLimit
    self.make = { AnyCache(make($0)) }
  }

  /// Runs the checks of `laws`, and returns the first breach of each; empty if the cache keeps
  /// them.
  ///
  /// - Parameters:
  ///   - laws: The laws to check.
  ///   - seeds: The seeds of the histories; the same seed gives the same history.
  public func breaches(
    of laws: [CacheLaw] = CacheLaw.allCases, seeds: Range<UInt64> = 0..<20
  ) async -> [Breach<CacheLaw>] {
    var breaches: [Breach<CacheLaw>] = []
    for law in laws {
      for seed in seeds {
        guard let breach = await breach(of: law, seed: seed) else { continue }
        breaches.append(breach)
        break
      }
    }
    return breaches
  }

  /// Checks one law on one history.
  ///
  /// - Parameters:
  ///   - law: The law to check.
  ///   - seed: The seed of the random history.
  /// - Returns: The breach, or nil.
  public func breach(of law: CacheLaw, seed: UInt64) async -> Breach<CacheLaw>? {
    for check in checks(of: law) {
      if let breach = await run(check, of: law, seed: seed) { return breach }
    }
    return nil
  }

  /// Checks that two compositions of three caches are indistinguishable.
  ///
  /// They must agree in their answers, in the contents of the layers, and in the gets and
  /// cancellations of each layer.
  ///
  /// - Parameters:
  ///   - seed: The seed of the history.
  ///   - left: One composition, of the top layer and those below it.
  ///   - right: The other composition.
  /// - Returns: The breach, whose law is "likeness", or nil.
  public func difference(
    seed: UInt64, between left: @escaping Composition, and right: @escaping Composition
  ) async -> Breach<String>? {
    await run(likeness("two compositions", .held, left, right), of: "likeness", seed: seed)
  }

  /// A way to compose three layers.
  public typealias Composition =
    @Sendable (
      AnyCache<Key, Value>, AnyCache<Key, Value>, AnyCache<Key, Value>
    ) -> AnyCache<Key, Value>

  private func run<Law>(_ check: Check, of law: Law, seed: UInt64) async -> Breach<Law>? {
    let search = ProgramSearch<Law, Step>(mix(check.kind), timeLimit: timeLimit) {
      steps, seed, timeLimit in
      guard let found = await check.find(steps, timeLimit) else { return [] }
      let steps = ["[\(check.composition)]"] + found.steps
      return [Breach(law, seed: seed, steps: steps, found.description)]
    }
    return await search.breaches(seed: seed).first
  }
}

extension CacheLaws {
  typealias Scene = CacheLawsScene<Key, Value>
  typealias Step = CacheLawsStep<Key, Value>

  /// A search of a history for one kind of breach.
  struct Check: Sendable {
    let composition: String
    let kind: CacheLawsKind
    let find: @Sendable ([Step], Duration) async -> CacheLawsFinding?
  }
}

/// The steps performed, and the violation after them.
struct CacheLawsFinding: Sendable {
  let steps: [String]
  let description: String
}
