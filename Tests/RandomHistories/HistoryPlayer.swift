import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting

/// A player that performs a program on a composition and records what happens.
final class HistoryPlayer<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  typealias Step = HistoryStep<Key, Value>

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

  let mode: HistoryMode

  /// A user's lock, held around each call and taken in each observer.
  ///
  /// The thread that holds it may take it again, because an immediate answer is delivered inside
  /// the call.
  private let lock: NSRecursiveLock?

  /// Whether a call has not returned; then no more steps are performed.
  let isStuck = Locked(false)

  static var keyCount: Int { 3 }

  init(
    _ subject: HistorySubject<Key, Value>, seed: UInt64, _ mode: HistoryMode,
    _ timeLimit: Duration
  ) {
    self.subject = subject
    self.mode = mode
    lock = mode.underLock ? NSRecursiveLock() : nil
    self.timeLimit = Locked(timeLimit / 5)
    lastPatience = timeLimit
    // A task that waits for a user's lock for ever occupies one of few threads. Several of them
    // would keep the check itself from reporting it.
    scene = HistoryScene(log, seed: seed, usesTasks: !mode.underLock, value: subject.value)
    compose()
  }

  func compose() {
    scene.features.withLock { features in
      (features.entryPoints, features.closings, features.signOuts) = ([], [], [])
      (features.clockUses, features.deaths) = ([], [])
    }
    let first = subject.compose(scene)
    entryPoints.withLock { $0 = [first] + scene.entryPoints }
    scene.origin.asks { [weak self] in self?.ask($0, in: $1, $2) }
    guard let states = scene.states else { return }
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
  func play(_ program: [Step]) async {
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
  private func nextRound(_ rest: ArraySlice<Step>) -> ArraySlice<Step> {
    if case .kill = rest.first {
      return rest.prefix(1 + rest.dropFirst().prefix(3).prefix { $0.isWrite }.count)
    }
    let isAlone = rest.prefix(mode.threads).contains { $0.isRestart }
    return rest.prefix(isAlone ? 1 : mode.threads)
  }

  func perform(_ steps: [Step]) async {
    await run(
      steps.compactMap { step in
        switch step {
        case .call(let deed), .write(let deed): { @Sendable in deed(self) }
        case .reopen, .kill: nil
        }
      })
  }

  /// Runs calls, concurrently if each has its own thread.
  func run(_ calls: [@Sendable () -> Void]) async {
    if isStuck.withLock({ $0 }) { return }
    if !mode.usesThreads { return calls.forEach { $0() } }
    // Long enough for a busy machine: a call that takes longer never returns.
    if await !onThreads(within: lastPatience * 20, calls) {
      isStuck.withLock { $0 = true }
    }
  }

  /// Runs `body` under the user's lock, if there is one.
  @discardableResult
  func locked<Result>(_ body: () -> Result) -> Result {
    lock.map { $0.withLock(body) } ?? body()
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
