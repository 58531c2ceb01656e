import MillpondCore
import MillpondSignals

/// Performs a program on a composition and writes down what happens.
final class HistoryPlayer<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  let log = HistoryLog<Key, Value>(clock: ManualClock())
  let scene: HistoryScene<Key, Value>
  let check: HistoryCheck<Key, Value>
  let entrances = Locked<[AnyCache<Key, Value>]>([])
  let watches = Locked<[Key: Recorder<Value?>]>([:])

  /// The time that is left for waiting in vain, in the whole history.
  let patience: Locked<Duration>

  /// The time to wait at the end of the history, when everything must have happened.
  let lastPatience: Duration

  /// The same while closures are held: what waits behind them can't be told from what is slow.
  let grace = Locked(Duration.milliseconds(20))

  /// Whether steps run at the same time.
  let isConcurrent = Locked(false)

  static var keyCount: Int { 3 }

  init(_ check: HistoryCheck<Key, Value>, seed: UInt64, _ patience: Duration) {
    self.check = check
    self.patience = Locked(patience / 5)
    lastPatience = patience
    scene = HistoryScene(log, seed: seed, value: check.value)
    compose()
  }

  func compose() {
    scene.parts.withLock { $0.entrances = [] }
    scene.parts.withLock { $0.closings = [] }
    scene.parts.withLock { $0.signOuts = [] }
    let first = check.compose(scene)
    let others = scene.parts.withLock { $0.entrances }
    entrances.withLock { $0 = [first] + others }
    scene.origin.asks { [weak self] in self?.ask($0, in: $1, $2) }
    guard let states = scene.parts.withLock({ $0.states }) else { return }
    for number in 0..<Self.keyCount {
      let key = check.key(number)
      let recorder = Recorder<Value?>().subscribe(to: states(key)) { [log] _ in
        log.change { _ in }
      }
      watches.withLock { $0[key] = recorder }
    }
  }

  /// Performs all steps, and then brings everything to its end.
  func play(_ program: [HistoryStep], threads: Int) async {
    isConcurrent.withLock { $0 = threads > 1 }
    var rest = program[...]
    while !rest.isEmpty {
      let round = rest.prefix(threads)
      rest = rest.dropFirst(threads)
      if threads == 1 || round.contains(.reopen) {
        for step in round { await perform(step) }
      } else {
        await withTaskGroup { group in
          for step in round { group.addTask { await self.perform(step) } }
        }
      }
      await settle()
      lookAtStates()
    }
    await finish()
  }

  private func perform(_ step: HistoryStep) async {
    switch step {
    case .reopen: await reopen()
    default: act(step)
    }
  }

  private func act(_ step: HistoryStep) {
    switch step {
    case .get(let question): get(question)
    case .leave(let pick): leave(pick)
    case .set(let key, let entrance): set(check.key(key), entrance)
    case .remove(let key, let entrance): remove(check.key(key), entrance)
    case .removeAll(let entrance):
      write(.removeAll, "removeAll", entrance) { $0.removeAll() }
    case .refresh(let key): refresh(check.key(key))
    case .answer, .miss, .fail, .answerLate: answer(step)
    case .hold(let isClosed):
      log.say("closures \(isClosed ? "take their time" : "don't wait any more")")
      scene.gate.close(isClosed)
    case .release(let pick):
      if scene.gate.release(pick) { log.say("a closure goes on") }
    case .askBack(let back):
      log.say("the next fetch \(back.words)")
      scene.origin.ask(back)
    case .advance(let seconds):
      log.say("\(seconds) s pass")
      scene.clock.advance(by: .seconds(seconds))
    case .endScope: endScope()
    case .trim:
      guard let trim = scene.parts.withLock({ $0.trim }) else { return }
      log.say("trim")
      trim()
    case .flood(let count, let removes, let entrance): flood(count, removes, entrance)
    case .reopen: break
    }
  }
}
