import MillpondCore

/// The kinds of steps that programs consist of, and how often each is drawn.
public struct HistoryStepMix: Sendable {
  typealias Draw = @Sendable (inout SeededGenerator) -> HistoryStep

  let draws: [Draw]
  let lengths: ClosedRange<Int>

  /// All kinds of steps: gets of every freshness, writes, leaving, late answers, restarts, ends of
  /// a scope.
  public static let general = HistoryStepMix(
    draws: asking + writing + answering + late + leaving + rare, lengths: 4...40)

  /// Gets of different priorities, and subscribers that leave.
  public static let priorities = HistoryStepMix(
    draws: urgent + urgent + leaving + [{ .answer(pick(&$0), ends: true) }], lengths: 4...16)

  /// Few keys, slow closures, and writes of many other keys meanwhile.
  public static let crowds = HistoryStepMix(
    draws: writing + holding + holding + floods
      + [{ .get(question(&$0)) }],
    lengths: 4...16)

  /// Sets and reloads that meet while closures are slow.
  public static let overtaking = HistoryStepMix(
    draws: [
      { _ in .hold(true) }, { _ in .hold(true) }, { .release(pick(&$0)) },
      { .set(key: key(&$0), entryPoint: pick(&$0)) },
      { .set(key: key(&$0), entryPoint: pick(&$0)) },
      { .set(key: key(&$0), entryPoint: pick(&$0)) },
      { .remove(key: key(&$0), entryPoint: pick(&$0)) },
      { .removeMatching(keys: keys(&$0), entryPoint: pick(&$0)) },
      { .get(question(&$0, .reload)) }, { .get(question(&$0, .reload)) },
      { .answer(pick(&$0), ends: true) }, { .answer(pick(&$0), ends: true) },
    ], lengths: 4...30)

  /// Removals by predicate, slow closures, and running gets.
  public static let selecting = HistoryStepMix(
    draws: asking + writing + answering + late + leaving + holding + [
      { .removeMatching(keys: keys(&$0), entryPoint: pick(&$0)) },
      { .removeMatching(keys: keys(&$0), entryPoint: pick(&$0)) },
      { .removeMatching(keys: keys(&$0), entryPoint: pick(&$0)) },
      { _ in .reopen },
    ], lengths: 4...40)

  /// Gets with different limits of freshness, failures, and time that passes.
  public static let freshness = HistoryStepMix(
    draws: fussy + fussy + fussy + answering + answering + passing + passing + leaving + [
      { _ in .set(key: 0, entryPoint: 0) }, { _ in .set(key: 0, entryPoint: 0) },
      { _ in .remove(key: 0, entryPoint: 0) }, { _ in .refresh(key: 0) },
      { .removeMatching(keys: keys(&$0), entryPoint: 0) },
    ], lengths: 4...40)

  /// Gets of one key that fail, and removals meanwhile.
  public static let failures = HistoryStepMix(
    draws: answering + [
      { _ in .get(HistoryQuestion()) }, { _ in .get(HistoryQuestion()) },
      { _ in .get(HistoryQuestion()) }, { _ in .get(HistoryQuestion()) },
      { _ in .remove(key: 0, entryPoint: 0) }, { _ in .remove(key: 0, entryPoint: 0) },
      { .removeMatching(keys: keys(&$0), entryPoint: 0) },
      { .fail(pick(&$0), isNamed: false) }, { .fail(pick(&$0), isNamed: false) },
      { _ in .advance(seconds: 1) },
    ], lengths: 4...30)

  /// Fetches that ask their own composition for their own key, and for others that do the same.
  public static let askingBack = HistoryStepMix(
    draws: asking + answering + answering + leaving + backward + backward + backward + [
      { .set(key: key(&$0), entryPoint: 0) }, { .remove(key: key(&$0), entryPoint: 0) },
      { .refresh(key: key(&$0)) }, { .answerLate(pick(&$0)) },
    ], lengths: 4...30)

  /// Gets that fail and are answered, and ends of a scope.
  public static let signingOut = HistoryStepMix(
    draws: asking + answering + answering + late + leaving + [
      { _ in .endScope }, { _ in .endScope },
      { .fail(pick(&$0), isNamed: false) }, { .fail(pick(&$0), isNamed: false) },
    ], lengths: 4...30)

  /// All kinds of steps, while the clock is set forward and back by small and large amounts.
  public static let clocks = HistoryStepMix(
    draws: asking + writing + answering + late + leaving + passing + setting + setting + [
      { _ in .endScope }, { _ in .reopen }, { _ in .trim }, { .refresh(key: key(&$0)) },
    ], lengths: 4...40)

  /// All kinds of steps, and processes that are killed during writes.
  public static let kills = HistoryStepMix(
    draws: asking + writing + writing + writing + answering + late + leaving + holding + [
      { .kill(afterCalls: .random(in: 0..<12, using: &$0)) },
      { .kill(afterCalls: .random(in: 0..<12, using: &$0)) },
      { .kill(afterCalls: .random(in: 0..<12, using: &$0)) },
      { _ in .endScope }, { _ in .endScope }, { _ in .reopen }, { _ in .trim },
    ], lengths: 4...40)

  /// Returns the program of a seed.
  func program(seed: UInt64) -> [HistoryStep] {
    var generator = SeededGenerator(seed: seed)
    return (0..<Int.random(in: lengths, using: &generator)).map { _ in
      draws[Int.random(in: draws.indices, using: &generator)](&generator)
    }
  }
}

extension HistoryStepMix {
  private static let asking: [Draw] = [
    { .get(question(&$0)) },
    { .get(question(&$0)) },
    { .get(question(&$0)) },
    { .get(question(&$0)) },
    { .get(question(&$0)) },
    { .get(question(&$0, .cachedOnly)) },
    { .get(question(&$0, .reload)) },
    { .get(question(&$0, .atMost(.seconds(20)), priority: .low)) },
  ]

  private static let urgent: [Draw] = [
    { .get(question(&$0, priority: .low)) },
    { .get(question(&$0, priority: .high)) },
    { .get(question(&$0)) },
  ]

  private static let writing: [Draw] = [
    { .set(key: key(&$0), entryPoint: pick(&$0)) },
    { .set(key: key(&$0), entryPoint: pick(&$0)) },
    { .remove(key: key(&$0), entryPoint: pick(&$0)) },
    { .removeAll(entryPoint: pick(&$0)) },
    { .removeMatching(keys: keys(&$0), entryPoint: pick(&$0)) },
  ]

  private static let late: [Draw] = [
    { .answerLate(pick(&$0)) }, { .answerLate(pick(&$0)) },
  ]

  private static let answering: [Draw] = [
    { .answer(pick(&$0), ends: true) }, { .answer(pick(&$0), ends: true) },
    { .answer(pick(&$0), ends: true) }, { .answer(pick(&$0), ends: false) },
    { .miss(pick(&$0)) }, { .fail(pick(&$0), isNamed: .random(using: &$0)) },
  ]

  private static let leaving: [Draw] = [
    { .leave(pick(&$0)) }, { .leave(pick(&$0)) }, { .leave(pick(&$0)) },
  ]

  private static let holding: [Draw] = [
    { _ in .hold(true) }, { .hold(.random(using: &$0)) },
    { .release(pick(&$0)) }, { .release(pick(&$0)) },
  ]

  private static let floods: [Draw] = [
    { .flood(count: 1_100, removes: .random(using: &$0), entryPoint: pick(&$0)) },
    { .flood(count: 2_100, removes: .random(using: &$0), entryPoint: pick(&$0)) },
  ]

  private static let backward: [Draw] = [
    { generator in
      let ways: [HistoryAskBack.Way] = [.get, .get, .reload, .refresh]
      return .askBack(
        HistoryAskBack(
          way: ways.randomElement(using: &generator) ?? .get,
          key: Bool.random(using: &generator) ? nil : key(&generator),
          isAwaited: Int.random(in: 0..<4, using: &generator) > 0))
    }
  ]

  private static let rare: [Draw] =
    holding + backward + [
      { .refresh(key: key(&$0)) }, { .refresh(key: key(&$0)) }, { _ in .endScope },
      { _ in .reopen }, { _ in .trim },
      { .advance(seconds: .random(in: 1...20, using: &$0)) },
    ]

  private static let fussy: [Draw] = [
    { generator in
      let stale: [StaleUse?] = [
        nil, nil, .never, .onNamedErrors, .onAnyError, .atOnce, .atOnce, .after(.seconds(2)),
      ]
      let freshness: [Freshness] = [
        .any, .any, .any, .atMost(.seconds(.random(in: 0..<12, using: &generator))), .reload,
        .cachedOnly,
      ]
      var question = question(&generator)
      question.key = 0
      question.freshness = freshness.randomElement(using: &generator) ?? .any
      question.stale = stale.randomElement(using: &generator) ?? nil
      question.takesFirst = Int.random(in: 0..<3, using: &generator) == 0
      return .get(question)
    }
  ]

  private static let passing: [Draw] = [
    { .advance(seconds: [1, 2, 5, 11, 31].randomElement(using: &$0) ?? 1) },
    { .advance(seconds: [1, 2, 5, 11, 31].randomElement(using: &$0) ?? 1) },
  ]

  private static let setting: [Draw] = [
    { .setClock(seconds: [-1, -7, -30, -59, 1, 7, 30].randomElement(using: &$0) ?? 0) },
    { .setClock(seconds: .random(in: -59...59, using: &$0)) },
    { .setClock(seconds: [-61, -600, -2_592_000, 600, 86_400].randomElement(using: &$0) ?? 0) },
  ]

  private static func question(
    _ generator: inout SeededGenerator, _ freshness: Freshness = .any, priority: Priority = .normal
  ) -> HistoryQuestion {
    HistoryQuestion(
      key: key(&generator), freshness: freshness, priority: priority, entryPoint: pick(&generator))
  }

  private static func key(_ generator: inout SeededGenerator) -> Int {
    // Mostly the same key, because steps on different keys rarely interact.
    max(0, .random(in: -2..<3, using: &generator))
  }

  /// Returns a set of keys, as bits: neither none of the three, nor all.
  private static func keys(_ generator: inout SeededGenerator) -> Int {
    .random(in: 1..<7, using: &generator)
  }

  private static func pick(_ generator: inout SeededGenerator) -> Int {
    .random(in: 0..<6, using: &generator)
  }
}
