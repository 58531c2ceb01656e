/// A search for short random programs that break laws.
package struct ProgramSearch<Law: Sendable & Hashable, Step: Sendable>: Sendable {
  private let mix: ProgramMix<Step>
  private let timeLimit: Duration

  /// Performs a program of a seed, and returns the first breach of each law.
  package typealias Play =
    @Sendable (_ steps: [Step], _ seed: UInt64, _ timeLimit: Duration) async -> [Breach<Law>]
  private let play: Play

  /// - Parameters:
  ///   - timeLimit: The time to wait for an event before it counts as missing.
  ///   - play: Performs a program; the given time limit is less while a breach is made shorter.
  package init(_ mix: ProgramMix<Step>, timeLimit: Duration, _ play: @escaping Play) {
    self.mix = mix
    self.timeLimit = timeLimit
    self.play = play
  }

  /// Returns the breaches by the program of a seed, each with the shortest program found.
  ///
  /// - Parameters:
  ///   - known: Laws whose breaches are left out.
  ///   - unshortened: A law whose breach must not be repeated.
  package func breaches(
    seed: UInt64, besides known: [Law] = [], unshortened: Law? = nil
  ) async -> [Breach<Law>] {
    let program = mix.program(seed: seed)
    let start = ContinuousClock.now
    let found = await play(mix.steps(program), seed, timeLimit)
    let taken = ContinuousClock.now - start
    var breaches: [Breach<Law>] = []
    for breach in found where !known.contains(breach.law) {
      let isFinal = breach.law == unshortened
      breaches.append(isFinal ? breach : await shortest(breach, program, seed, taken))
    }
    return breaches
  }

  private func shortest(
    _ breach: Breach<Law>, _ program: [Choices], _ seed: UInt64, _ taken: Duration
  ) async -> Breach<Law> {
    let again = { @Sendable (program: [Choices], timeLimit: Duration) in
      await play(mix.steps(program), seed, timeLimit).first { $0.law == breach.law }
    }
    // Less patient with trials, because a cache that never answers would take too long, but patient
    // enough for a slow one.
    let least = min(max(timeLimit / 20, .milliseconds(2)), .milliseconds(50))
    let haste = taken < timeLimit / 2 ? max(least, taken * 2) : least
    let end = ContinuousClock.now + max(timeLimit * 10, .seconds(10))
    let shrinker = Shrinker<Choices>(
      simpler: { $0.simpler },
      isBroken: { program in
        guard ContinuousClock.now < end else { return false }
        return await again(program, haste) != nil
      }, limit: 1_000)
    return await again(shrinker.shrink(program), timeLimit) ?? breach
  }
}
