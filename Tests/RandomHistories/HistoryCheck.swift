package import MillpondCore
import MillpondSignals
package import MillpondTesting

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
package struct HistoryCheck<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
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
  package init(
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
  package func failures(
    seeds: Range<UInt64>, threads: Int = 1, underLock: Bool = false
  ) async -> [Breach<HistoryRule>] {
    let mode = HistoryMode(threads: max(threads, 1), underLock: underLock)
    let search = ProgramSearch<HistoryRule, HistoryStep<Key, Value>>(
      HistoryStep.mix(mix), timeLimit: timeLimit
    ) { [subject] steps, seed, timeLimit in
      let player = HistoryPlayer(subject, seed: seed, mode, timeLimit)
      await player.play(steps)
      let (lines, findings) = await player.findings()
      return findings.map { Breach($0, seed: seed, steps: lines, $1) }
    }
    var failures: [Breach<HistoryRule>] = []
    for seed in seeds {
      // Each trial with a call that does not return would leave threads behind.
      failures += await search.breaches(
        seed: seed, besides: failures.map(\.law), unshortened: .returned)
      if failures.contains(where: { $0.law == .returned }) { break }
    }
    return failures
  }
}
