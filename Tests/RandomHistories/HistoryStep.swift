import MillpondCore
import MillpondTesting

/// A step of a program.
///
/// Keys, gets and fetches are chosen by number, which is easy to make simpler.
enum HistoryStep<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  typealias Deed = @Sendable (HistoryPlayer<Key, Value>) -> Void
  case call(Deed)
  case write(Deed)

  /// The composition is closed and made anew.
  case reopen

  /// The process is killed after so many more calls that change a file, during the following writes
  /// or after them.
  case kill(afterCalls: Int)

  /// Whether the step makes the composition anew.
  var isRestart: Bool {
    switch self {
    case .reopen, .kill: true
    case .call, .write: false
    }
  }

  var isWrite: Bool {
    if case .write = self { true } else { false }
  }
}

// The steps of users.
extension HistoryStep {
  static func get(_ freshness: Freshness, _ priority: Priority = .normal) -> Draw {
    { choices in
      let question = HistoryQuestion(
        key: key(&choices), freshness: freshness, priority: priority, entryPoint: pick(&choices))
      return .call { $0.get(question) }
    }
  }

  static func get(_ choices: inout Choices) -> HistoryStep {
    get(.any)(&choices)
  }

  static func leave(_ choices: inout Choices) -> HistoryStep {
    let pick = pick(&choices)
    return .call { $0.leave(pick) }
  }

  static func set(_ choices: inout Choices) -> HistoryStep {
    let (key, entryPoint) = (key(&choices), pick(&choices))
    return .write { $0.set($0.subject.key(key), entryPoint) }
  }

  static func remove(_ choices: inout Choices) -> HistoryStep {
    let (key, entryPoint) = (key(&choices), pick(&choices))
    return .write { $0.remove($0.subject.key(key), entryPoint) }
  }

  static func removeAll(_ choices: inout Choices) -> HistoryStep {
    let entryPoint = pick(&choices)
    return .write { $0.write(.removeAll, "removeAll", entryPoint) { $0.removeAll() } }
  }

  /// Removes some of the three keys, neither none nor all, by one predicate.
  static func removeMatching(_ choices: inout Choices) -> HistoryStep {
    let (bits, entryPoint) = (choices.number(below: 6) + 1, pick(&choices))
    return .write { $0.removeMatching(bits, entryPoint) }
  }

  static func refresh(_ choices: inout Choices) -> HistoryStep {
    let key = key(&choices)
    return .call { $0.refresh($0.subject.key(key)) }
  }

  static func endScope(_ choices: inout Choices) -> HistoryStep {
    .write { $0.endScope() }
  }

  /// Writes many other keys.
  static func flood(_ choices: inout Choices) -> HistoryStep {
    let (count, removes) = (choices.one(of: [1_100, 2_100]), choices.one(of: [false, true]))
    let entryPoint = pick(&choices)
    return .call { $0.flood(count, removes, entryPoint) }
  }
}

// The steps of the origin.
extension HistoryStep {
  static func answer(_ choices: inout Choices) -> HistoryStep {
    let (pick, goesOn) = (pick(&choices), choices.number(below: 4) == 3)
    return .call { player in
      player.answer("the origin answers", pick) { player.scene.origin.send($0, ends: !goesOn) }
    }
  }

  /// Sends a value through a run that was cancelled or has ended.
  static func answerLate(_ choices: inout Choices) -> HistoryStep {
    let pick = pick(&choices)
    return .call { player in
      player.answer("the origin answers late", pick, isLate: true) {
        player.scene.origin.send($0, ends: true)
      }
    }
  }

  static func miss(_ choices: inout Choices) -> HistoryStep {
    let pick = pick(&choices)
    return .call { player in
      player.answer("the origin misses", pick) { player.scene.origin.miss($0) }
    }
  }

  static func fail(_ choices: inout Choices) -> HistoryStep {
    let (pick, isNamed) = (pick(&choices), choices.one(of: [false, true]))
    return .call { player in
      player.answer("the origin fails", pick) { player.scene.origin.fail($0, isNamed: isNamed) }
    }
  }

  /// Makes the next fetch ask the composition before it answers.
  static func askBack(_ choices: inout Choices) -> HistoryStep {
    let back = HistoryAskBack(
      way: choices.one(of: [.get, .get, .reload, .refresh]),
      key: choices.one(of: [false, true]) ? key(&choices) : nil,
      isAwaited: choices.number(below: 4) < 3)
    return .call { player in
      player.log.say("the next fetch \(back.words)")
      player.scene.origin.ask(back)
    }
  }
}

// The steps of the world.
extension HistoryStep {
  /// Makes the users' closures of the composition wait from now on, or no longer.
  static func hold(_ choices: inout Choices) -> HistoryStep {
    let isClosed = choices.number(below: 4) < 3
    return .call { player in
      player.log.say("closures \(isClosed ? "take their time" : "don't wait any more")")
      player.scene.gate.close(isClosed)
    }
  }

  static func release(_ choices: inout Choices) -> HistoryStep {
    let pick = pick(&choices)
    return .call { player in
      if player.scene.gate.release(pick) { player.log.say("a closure goes on") }
    }
  }

  static func advance(_ choices: inout Choices) -> HistoryStep {
    let seconds = choices.one(of: [1, 2, 5, 11, 17, 31])
    return .call { player in
      player.log.say("\(seconds) s pass")
      player.log.moveClock(by: .seconds(seconds), isSet: false)
      player.scene.clock.advance(by: .seconds(seconds))
    }
  }

  /// Sets the clock forward or back, by a little or by much, without passing time.
  static func setClock(_ choices: inout Choices) -> HistoryStep {
    let slightly = choices.number(below: 119) - 59
    let seconds = choices.one(of: [
      1, -1, slightly, slightly, 7, -7, 30, -30, -59, -61, -600, 600, 86_400, -2_592_000,
    ])
    return .call { player in
      player.log.say("the clock is set \(seconds < 0 ? "back" : "forward") by \(abs(seconds)) s")
      player.log.moveClock(by: .seconds(seconds), isSet: true)
      player.scene.clock.step(by: .seconds(seconds))
      for use in player.scene.clockUses { use() }
    }
  }

  static func trim(_ choices: inout Choices) -> HistoryStep {
    .call { player in
      guard let trim = player.scene.trim else { return }
      player.log.say("trim")
      player.locked { trim() }
    }
  }

  static func reopen(_ choices: inout Choices) -> HistoryStep { .reopen }

  static func kill(_ choices: inout Choices) -> HistoryStep {
    .kill(afterCalls: choices.number(below: 12))
  }

  private static func key(_ choices: inout Choices) -> Int {
    // Mostly the same key, because steps on different keys rarely interact.
    choices.one(of: [0, 0, 0, 1, 2])
  }

  private static func pick(_ choices: inout Choices) -> Int {
    choices.number(below: 6)
  }
}
