import MillpondCore

/// A step of a program.
///
/// Keys, gets and fetches are chosen by number, which is easy to shrink.
enum HistoryStep: Sendable, Equatable {
  case get(HistoryQuestion)
  case leave(Int)
  case set(key: Int, entryPoint: Int)
  case remove(key: Int, entryPoint: Int)
  case removeAll(entryPoint: Int)

  /// The keys of a set bit are removed by one predicate.
  case removeMatching(keys: Int, entryPoint: Int)
  case refresh(key: Int)

  /// The origin sends a value, and completes if `ends`.
  case answer(Int, ends: Bool)
  case miss(Int)
  case fail(Int, isNamed: Bool)

  /// The origin sends a value through a run that was cancelled or has ended.
  case answerLate(Int)

  /// The users' closures of the composition wait from now on, or no longer.
  case hold(Bool)
  case release(Int)

  /// The next fetch asks the composition before it answers.
  case askBack(HistoryAskBack)

  case advance(seconds: Int)

  /// The clock is set forward or back, without passing time.
  case setClock(seconds: Int)
  case endScope
  case reopen

  /// The process is killed after so many more calls that change a file, during the following writes
  /// or after them.
  case kill(afterCalls: Int)
  case trim

  /// Many other keys are written.
  case flood(count: Int, removes: Bool, entryPoint: Int)

  /// Whether the step makes the composition anew.
  var isRestart: Bool {
    switch self {
    case .reopen, .kill: true
    default: false
    }
  }

  var isWrite: Bool {
    switch self {
    case .set, .remove, .removeAll, .removeMatching, .endScope: true
    default: false
    }
  }

  /// The same step with fewer or smaller numbers, the simplest first.
  var simpler: [HistoryStep] {
    let all: [HistoryStep] =
      switch self {
      case .get(let question): question.simpler.map { .get($0) }
      case .leave: [.leave(0)]
      case .set(let key, let entryPoint):
        [
          .set(key: 0, entryPoint: 0), .set(key: 0, entryPoint: entryPoint),
          .set(key: key, entryPoint: 0),
        ]
      case .remove(let key, let entryPoint):
        [
          .remove(key: 0, entryPoint: 0), .remove(key: 0, entryPoint: entryPoint),
          .remove(key: key, entryPoint: 0),
        ]
      case .removeAll: [.removeAll(entryPoint: 0)]
      case .removeMatching(let keys, let entryPoint):
        [.remove(key: 0, entryPoint: entryPoint), .removeAll(entryPoint: entryPoint)]
          + (1..<keys).map { .removeMatching(keys: $0, entryPoint: entryPoint) }
          + [.removeMatching(keys: keys, entryPoint: 0)]
      case .refresh: [.refresh(key: 0)]
      case .answer(let run, _): [.answer(0, ends: true), .answer(run, ends: true)]
      case .miss: [.miss(0)]
      case .fail(let run, let isNamed): [.fail(0, isNamed: isNamed), .fail(run, isNamed: false)]
      case .answerLate: [.answerLate(0)]
      case .release: [.release(0)]
      case .askBack(let back): back.simpler.map { .askBack($0) }
      case .advance: [.advance(seconds: 1)]
      case .setClock(let seconds): [.setClock(seconds: seconds < 0 ? -1 : 1)]
      case .flood(let count, let removes, let entryPoint):
        [10, 100, 600, 1_100].filter { $0 < count }.map {
          .flood(count: $0, removes: removes, entryPoint: entryPoint)
        } + [.flood(count: count, removes: removes, entryPoint: 0)]
      case .kill(let calls): (0..<calls).map { .kill(afterCalls: $0) }
      case .hold, .endScope, .reopen, .trim: []
      }
    guard let own = all.firstIndex(of: self) else { return all }
    return Array(all[..<own])
  }
}
