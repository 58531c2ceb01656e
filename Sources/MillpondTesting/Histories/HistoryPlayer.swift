import MillpondCore
import MillpondSignals

/// A player that performs a program on a composition and records what happens.
final class HistoryPlayer<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  let log = HistoryLog<Key, Value>(clock: ManualClock())
  let scene: HistoryScene<Key, Value>
  let subject: HistorySubject<Key, Value>
  let entryPoints = Locked<[AnyCache<Key, Value>]>([])
  let watches = Locked<[Key: Recorder<Value?>]>([:])

  /// The remaining time for waits without a result, in the whole history.
  let timeLimit: Locked<Duration>

  /// The time to wait at the end of the history, by when everything must have happened.
  let lastPatience: Duration

  /// The remaining time for waits without a result while closures are held, when blocked work looks
  /// like slow work.
  let grace = Locked(Duration.milliseconds(20))

  let manner: HistoryMode
  private let lock: HistoryLock?

  /// Whether a call has not returned; then no more steps are performed.
  let isStuck = Locked(false)

  static var keyCount: Int { 3 }

  init(
    _ subject: HistorySubject<Key, Value>, seed: UInt64, _ manner: HistoryMode,
    _ timeLimit: Duration
  ) {
    self.subject = subject
    self.manner = manner
    lock = manner.underLock ? HistoryLock() : nil
    self.timeLimit = Locked(timeLimit / 5)
    lastPatience = timeLimit
    // A task that waits for a user's lock for ever occupies one of few threads. Several of them
    // would keep the check itself from reporting it.
    scene = HistoryScene(log, seed: seed, usesTasks: !manner.underLock, value: subject.value)
    compose()
  }

  func compose() {
    scene.parts.withLock { $0.entryPoints = [] }
    scene.parts.withLock { parts in
      (parts.closings, parts.signOuts, parts.clockUses, parts.deaths) = ([], [], [], [])
    }
    let first = subject.compose(scene)
    let others = scene.parts.withLock { $0.entryPoints }
    entryPoints.withLock { $0 = [first] + others }
    scene.origin.asks { [weak self] in self?.ask($0, in: $1, $2) }
    guard let states = scene.parts.withLock({ $0.states }) else { return }
    for number in 0..<Self.keyCount {
      let key = subject.key(number)
      let recorder = Recorder<Value?>()
      locked {
        recorder.subscribe(to: states(key)) { _ in self.locked { self.log.change { _ in } } }
      }
      watches.withLock { $0[key] = recorder }
    }
  }

  /// Performs all steps, and then ends everything.
  func play(_ program: [HistoryStep]) async {
    var rest = program[...]
    while !rest.isEmpty {
      let round = Array(nextRound(rest))
      rest = rest.dropFirst(round.count)
      switch round.first {
      case .reopen: await reopen()
      case .kill(let calls): await kill(calls, during: Array(round.dropFirst()))
      default: await perform(round)
      }
      if isStuck.withLock({ $0 }) { return }
      await settle()
      lookAtStates()
    }
    await finish()
  }

  /// Returns the steps to perform at the same time.
  private func nextRound(_ rest: ArraySlice<HistoryStep>) -> ArraySlice<HistoryStep> {
    if case .kill = rest.first {
      return rest.prefix(1 + rest.dropFirst().prefix(3).prefix { $0.isWrite }.count)
    }
    let isAlone = rest.prefix(manner.threads).contains { $0.isRestart }
    return rest.prefix(isAlone ? 1 : manner.threads)
  }

  func perform(_ steps: [HistoryStep]) async {
    await run(steps.map { step in { @Sendable in self.act(step) } })
  }

  /// Runs calls, concurrently if each has its own thread.
  func run(_ calls: [@Sendable () -> Void]) async {
    if isStuck.withLock({ $0 }) { return }
    if !manner.usesThreads { return calls.forEach { $0() } }
    // Long enough for a busy machine: a call that takes longer never returns.
    if await !onThreads(within: lastPatience * 20, calls) {
      isStuck.withLock { $0 = true }
    }
  }

  /// Runs `body` under the user's lock, if there is one.
  @discardableResult
  func locked<Result>(_ body: () -> Result) -> Result {
    lock.map { $0.hold(body) } ?? body()
  }

  private func act(_ step: HistoryStep) {
    switch step {
    case .get(let question): get(question)
    case .leave(let pick): leave(pick)
    case .set(let key, let entryPoint): set(subject.key(key), entryPoint)
    case .remove(let key, let entryPoint): remove(subject.key(key), entryPoint)
    case .removeAll(let entryPoint):
      write(.removeAll, "removeAll", entryPoint) { $0.removeAll() }
    case .removeMatching(let keys, let entryPoint): removeMatching(keys, entryPoint)
    case .refresh(let key): refresh(subject.key(key))
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
      log.moveClock(by: .seconds(seconds), isSet: false)
      scene.clock.advance(by: .seconds(seconds))
    case .setClock(let seconds):
      log.say("the clock is set \(seconds < 0 ? "back" : "forward") by \(abs(seconds)) s")
      log.moveClock(by: .seconds(seconds), isSet: true)
      scene.clock.step(by: .seconds(seconds))
      for use in scene.parts.withLock({ $0.clockUses }) { use() }
    case .endScope: endScope()
    case .trim:
      guard let trim = scene.parts.withLock({ $0.trim }) else { return }
      log.say("trim")
      locked { trim() }
    case .flood(let count, let removes, let entryPoint): flood(count, removes, entryPoint)
    case .reopen, .kill: break
    }
  }
}

/// A composition on which programs are performed, with its keys and values.
struct HistorySubject<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  /// Makes a key of a number.
  let key: @Sendable (Int) -> Key

  /// Makes a value of a key and a number.
  let value: @Sendable (Key, Int) -> Value
  let compose: @Sendable (HistoryScene<Key, Value>) -> AnyCache<Key, Value>
}

/// The way in which a program is performed.
struct HistoryMode: Sendable {
  /// The number of steps that run at a time.
  let threads: Int

  /// Whether a user holds a lock around each call, and takes it in each observer.
  let underLock: Bool

  /// Whether each step runs on its own thread.
  var usesThreads: Bool { threads > 1 || underLock }
}
