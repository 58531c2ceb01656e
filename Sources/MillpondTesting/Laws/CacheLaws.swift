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
  ) async -> [CacheBreach] {
    var breaches: [CacheBreach] = []
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
  public func breach(of law: CacheLaw, seed: UInt64) async -> CacheBreach? {
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
  /// - Returns: The breach, or nil.
  public func difference(
    seed: UInt64, between left: @escaping Composition, and right: @escaping Composition
  ) async -> CacheBreach? {
    await run(
      likeness("two compositions", .held, left, right), of: nil, seed: seed)
  }

  /// A way to compose three layers.
  public typealias Composition =
    @Sendable (
      AnyCache<Key, Value>, AnyCache<Key, Value>, AnyCache<Key, Value>
    ) -> AnyCache<Key, Value>

  private func run(
    _ check: CacheLawsCheck, of law: CacheLaw?, seed: UInt64
  ) async -> CacheBreach? {
    let history = CacheLawsStep.history(
      check.kind, keys: keys.count, values: values.count, seed: seed)
    let clock = ContinuousClock()
    let start = clock.now
    guard let first = await check.find(history, timeLimit) else { return nil }
    let taken = clock.now - start
    // Less patient with trials, because a cache that never answers would take too long, but patient
    // enough for a slow one.
    let least = min(max(timeLimit / 100, .milliseconds(2)), .milliseconds(50))
    let haste = taken < timeLimit / 2 ? max(least, taken * 2) : least
    let shrinker = Shrinker<CacheLawsStep>(
      simpler: { $0.simpler },
      isBroken: { steps in
        guard clock.now - start < max(timeLimit * 10, .seconds(10)) else { return false }
        return await check.find(steps, haste) != nil
      }, limit: 1_000)
    let shrunk = await check.find(shrinker.shrink(history), timeLimit)
    let finding = shrunk ?? first
    return CacheBreach(
      law: law, seed: seed, steps: finding.steps, composition: check.composition,
      finding: finding.description)
  }
}

/// A search of a history for one kind of breach.
struct CacheLawsCheck: Sendable {
  let composition: String
  let kind: CacheLawsStep.Kind
  let find: @Sendable ([CacheLawsStep], Duration) async -> CacheLawsFinding?
}

/// The steps performed, and the violation after them.
struct CacheLawsFinding: Sendable {
  let steps: [String]
  let description: String
}
