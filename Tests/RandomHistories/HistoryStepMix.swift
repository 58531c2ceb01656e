import MillpondCore
import MillpondTesting

/// The kinds of steps that programs consist of.
package enum HistoryStepMix: Sendable {
  /// All kinds of steps: gets of every freshness, writes, leaving, late answers, restarts, ends of
  /// a scope.
  case general

  /// Gets of different priorities, and subscribers that leave.
  case priorities

  /// Few keys, slow closures, and writes of many other keys meanwhile.
  case crowds

  /// Sets and reloads that meet while closures are slow.
  case overtaking

  /// Removals by predicate, slow closures, and running gets.
  case selecting

  /// Fetches that ask their own composition for their own key, and for others that do the same.
  case askingBack

  /// Gets that fail and are answered, and ends of a scope.
  case signingOut

  /// All kinds of steps, while the clock is set forward and back by small and large amounts.
  case clocks

  /// All kinds of steps, and processes that are killed during writes.
  case kills
}

extension HistoryStep {
  typealias Draw = ProgramMix<HistoryStep>.Draw

  /// Returns the possible steps, each as often as its weight.
  static func mix(_ mix: HistoryStepMix) -> ProgramMix<HistoryStep> {
    switch mix {
    case .general:
      ProgramMix(
        asking + writing + answering + [answerLate, answerLate] + leaving + holding + [
          askBack, refresh, refresh, endScope, reopen, trim, advance,
        ], lengths: 4...40)
    case .priorities:
      ProgramMix(
        [get(.any, .low), get(.any, .low), get(.any, .high), get(.any, .high), get, get]
          + leaving + [answer], lengths: 4...16)
    case .crowds:
      ProgramMix(writing + holding + holding + [flood, flood, get], lengths: 4...16)
    case .overtaking:
      ProgramMix(
        [
          hold, hold, release, set, set, set, remove, removeMatching, get(.reload), get(.reload),
          answer, answer,
        ], lengths: 4...30)
    case .selecting:
      ProgramMix(
        asking + writing + answering + [answerLate, answerLate] + leaving + holding + [
          removeMatching, removeMatching, removeMatching, reopen,
        ], lengths: 4...40)
    case .askingBack:
      ProgramMix(
        asking + answering + answering + leaving + [
          askBack, askBack, askBack, set, remove, refresh, answerLate,
        ], lengths: 4...30)
    case .signingOut:
      ProgramMix(
        asking + answering + answering + [answerLate, answerLate] + leaving + [
          endScope, endScope, fail, fail,
        ], lengths: 4...30)
    case .clocks:
      ProgramMix(
        asking + writing + answering + [answerLate, answerLate] + leaving + [
          advance, advance, setClock, setClock, setClock, setClock, setClock, setClock, endScope,
          reopen, trim, refresh,
        ], lengths: 4...40)
    case .kills:
      ProgramMix(
        asking + writing + writing + writing + answering + [answerLate, answerLate] + leaving
          + holding + [kill, kill, kill, endScope, endScope, reopen, trim], lengths: 4...40)
    }
  }

  private static var asking: [Draw] {
    [
      get, get, get, get, get, get(.cachedOnly), get(.reload), get(.atMost(.seconds(20)), .low),
    ]
  }

  private static var writing: [Draw] { [set, set, remove, removeAll, removeMatching] }
  private static var answering: [Draw] { [answer, answer, answer, answer, miss, fail] }
  private static var leaving: [Draw] { [leave, leave, leave] }
  private static var holding: [Draw] { [hold, hold, release, release] }
}
