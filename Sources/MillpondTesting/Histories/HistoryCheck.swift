public import MillpondCore
import MillpondSignals

/// A checker that runs random programs against a composition of caches and judges what is seen.
///
///     let check = HistoryCheck(key: { "key \($0)" }, value: { "\($0), value \($1)" }) { scene in
///       MemoryCache(countLimit: 100, clock: scene.clock).layered(over: scene.origin)
///         .reusingInFlight(clock: scene.clock)
///     }
///     #expect(await check.failures(seeds: 0..<200).isEmpty)
///
/// A program consists of gets, sets, removals, reloads, refreshes, subscribers that leave, ends of
/// a scope, restarts, kills, a clock that is set, and answers of an origin that ignores
/// cancellation: it answers late, twice and after its end. Each value is made once, so that the
/// checker knows which write or fetch a value came from, and judges it by the order of the calls:
/// see ``HistoryRule``.
///
/// A program that breaks a rule is made as short as possible. The failure describes it step by
/// step.
///
/// - Note: With one thread and a composition that works on the caller's thread, a seed always gives
///   the same history.
public struct HistoryCheck<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  private let subject: HistorySubject<Key, Value>
  private let mix: HistoryStepMix
  private let timeLimit: Duration

  /// Creates a checker of a composition.
  ///
  /// - Parameters:
  ///   - key: Makes a key of a number; different numbers give different keys.
  ///   - value: Makes a value of a key and a number; different numbers give different values.
  ///   - mix: The kinds of steps that programs consist of.
  ///   - timeLimit: The time to wait for an event before it counts as missing.
  ///   - compose: Makes a new composition over the origin of a scene. It is called again for each
  ///     restart, and must not use anything that outlives the scene.
  public init(
    key: @escaping @Sendable (Int) -> Key, value: @escaping @Sendable (Key, Int) -> Value,
    mix: HistoryStepMix = .general, timeLimit: Duration = .seconds(1),
    composing compose: @escaping @Sendable (HistoryScene<Key, Value>) -> some Cache<Key, Value>
  ) {
    subject = HistorySubject(key: key, value: value) { AnyCache(compose($0)) }
    self.mix = mix
    self.timeLimit = timeLimit
  }

  /// Runs the programs of `seeds` and returns the first failure of each rule.
  ///
  /// - Parameters:
  ///   - seeds: The programs; the same seed gives the same program.
  ///   - threads: The number of steps that run at a time, each on a thread of its own.
  ///   - underLock: Whether a user holds a lock around each call, and takes it in each observer.
  public func failures(
    seeds: Range<UInt64>, threads: Int = 1, underLock: Bool = false
  ) async -> [HistoryFailure] {
    let manner = HistoryMode(threads: max(threads, 1), underLock: underLock)
    var failures: [HistoryFailure] = []
    for seed in seeds {
      for failure in await self.failures(of: mix.program(seed: seed), seed, manner, timeLimit)
      where !failures.contains(where: { $0.rule == failure.rule }) {
        // Each trial with a call that does not return would leave threads behind.
        failures.append(failure.rule == .returned ? failure : await shrunk(failure, manner))
      }
      if failures.contains(where: { $0.rule == .returned }) { break }
    }
    return failures
  }

  /// Runs one program as it is, and returns the first failure of each rule that it breaks.
  private func failures(
    of program: [HistoryStep], _ seed: UInt64, _ manner: HistoryMode, _ timeLimit: Duration
  ) async -> [HistoryFailure] {
    let player = HistoryPlayer(subject, seed: seed, manner, timeLimit)
    await player.play(program)
    let (steps, findings) = await player.findings()
    return findings.map { rule, finding in
      HistoryFailure(
        rule: rule, seed: seed, steps: steps, finding: finding, program: program)
    }
  }

  /// Returns the same failure with fewer and simpler steps.
  private func shrunk(
    _ failure: HistoryFailure, _ manner: HistoryMode
  ) async -> HistoryFailure {
    let best = Locked(failure)
    // Less patient with trials: a cache that never answers would take too long.
    let haste = min(timeLimit / 20, .milliseconds(100))
    let shrinker = Shrinker<HistoryStep>(
      simpler: { $0.simpler },
      isBroken: { steps in
        let failures = await failures(of: steps, failure.seed, manner, haste)
        guard let same = failures.first(where: { $0.rule == failure.rule }) else { return false }
        best.withLock { $0 = same }
        return true
      }, limit: 400)
    _ = await shrinker.shrink(failure.program)
    return best.withLock { $0 }
  }
}
