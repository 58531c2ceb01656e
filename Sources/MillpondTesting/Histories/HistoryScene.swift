public import MillpondCore
public import MillpondSignals

/// What a checker gives to a composition: an origin, a clock and a scope, and ways to say what else
/// the composition has.
///
/// - Note: Any thread.
public final class HistoryScene<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  /// The source under all layers; it answers when the program says so, and ignores cancellation.
  public let origin: HistoryOrigin<Key, Value>

  /// The clock of the scene; the program advances it.
  public let clock: ManualClock

  /// A scope that the program ends now and then, if the composition says that it uses it.
  ///
  /// The end of a scope counts as a removal of everything.
  public let scope = CacheScope()

  /// The number of the program, for compositions that are drawn at random.
  public let seed: UInt64

  /// A name that no other scene has, for folders and the like; a restart keeps it.
  public let name: String

  struct Parts: Sendable {
    var entrances: [AnyCache<Key, Value>] = []
    var states: (@Sendable (Key) -> Signal<Value?>)?
    var refresh: (@Sendable (Key) -> Signal<Value>)?
    var trim: (@Sendable () -> Void)?
    var closings: [@Sendable () -> Signal<Void>] = []
    var endings: [@Sendable () -> Void] = []
    var signOuts: [@Sendable () -> Void] = []
    var policy: FreshnessPolicy?

    /// The time to live in every layer.
    var life: Duration?
    var clockUses: [@Sendable () -> Void] = []

    /// The ways to kill the process, as far as each store is concerned.
    var deaths: [HistoryDeath] = []

    /// Makes a test of whether a value is in a file.
    var traces: (@Sendable () -> @Sendable (Value) -> Bool)?
    var questions: (@Sendable () -> Int)?
    var isScoped = false
    var mayForget = false
    var goesOn = false
    var refreshesBehind = false

    /// Whether the origin's signals break their promise to send nothing to those who have left.
    var isUnchecked = false

    /// Whether values are delivered by threads of the composition's own.
    var answersElsewhere = false

    /// Whether fills are on their way for a while, which nobody can wait for.
    var takesTime = false

    /// Whether a value that is still shown is too old by a moment to be an answer.
    func isOver(
      _ value: Value?, at time: Duration, _ content: HistoryLog<Key, Value>.Content
    ) -> Bool {
      guard case .after(let limit)? = policy?.usableFor,
        let making = value.flatMap({ content.makings[$0] })
      else { return false }
      return time - making.at >= limit
    }
  }

  private let log: HistoryLog<Key, Value>
  let gate: HistoryGate
  let parts = Locked(Parts())

  /// - Parameter usesTasks: Whether the origin may answer in tasks.
  init(
    _ log: HistoryLog<Key, Value>, seed: UInt64, usesTasks: Bool,
    value: @escaping @Sendable (Key, Int) -> Value
  ) {
    self.seed = seed
    self.log = log
    clock = log.content.clock
    name = "\(seed)-\(HistoryNumber.next())"
    origin = HistoryOrigin(log, usesTasks && seed % 4 == 3 ? .tasks : .callbacks, value: value)
    gate = HistoryGate { log.change { _ in } }
  }

  /// Adds a line to the description of a failure: what a composition that is drawn at random is.
  public func says(_ line: String) {
    log.say(line)
  }

  /// Waits as long as the program says; for closures that take their time, as codecs do.
  public func takesTime() async {
    parts.withLock { $0.takesTime = true }
    await gate.pass()
  }

  /// Says that the composition delivers values by threads of its own, as from a queue.
  ///
  /// Then a closure that began before a disposal may still run when the disposal has returned.
  public func answersElsewhere() {
    parts.withLock { $0.answersElsewhere = true }
  }

  /// Adds another entrance to the same stores.
  ///
  /// Writes by one entrance are visible by another when their outcome has come.
  public func isAlsoEntered(by cache: some Cache<Key, Value>) {
    parts.withLock { $0.entrances.append(AnyCache(cache)) }
  }

  /// Adds what is done at the end of ``scope``, before it.
  public func endsScope(with action: @escaping @Sendable () -> Void) {
    parts.withLock { $0.signOuts.append(action) }
    usesScope()
  }

  /// Says that the composition ends with ``scope``.
  public func usesScope() {
    parts.withLock { $0.isScoped = true }
  }

  /// Says that values may be evicted, so that a miss is no fault.
  public func mayForget() {
    parts.withLock { $0.mayForget = true }
  }

  /// Makes the origin send on what comes after its run was given up, as a signal does that does not
  /// keep the promise of `Signal.init`: nothing of that may be kept.
  public func originSendsUnchecked() {
    parts.withLock { $0.isUnchecked = true }
    origin.sendsUnchecked()
  }

  /// Says that gets follow their value, and don't end by themselves.
  public func getsGoOn() {
    parts.withLock { $0.goesOn = true }
  }

  /// Says that fetches go on for a while though nobody waits for them.
  public func refreshesInBackground() {
    parts.withLock { $0.refreshesBehind = true }
  }

  /// Says by which policy values are remembered, so that ages are judged; they may expire then.
  public func remembers(by policy: FreshnessPolicy) {
    parts.withLock { $0.policy = policy }
    origin.answersAtOnce()
    mayForget()
  }

  /// Says that every layer drops values after `life`, by the clock of the scene or by a calendar that
  /// moves with it, so that their ages are judged.
  public func expires(after life: Duration) {
    parts.withLock { $0.life = life }
  }

  /// Adds what makes a layer notice that the clock was set, which it can't know before it uses the clock.
  public func noticesClock(by use: @escaping @Sendable () -> Void) {
    parts.withLock { $0.clockUses.append(use) }
  }

  /// Gives the values that are shown for a key; nil while there is none.
  public func shows(_ states: @escaping @Sendable (Key) -> Signal<Value?>) {
    parts.withLock { $0.states = states }
  }

  /// Gives the number of hits and misses of the layer that every get asks.
  ///
  /// A reload passes layers by, and is not counted.
  public func counts(_ questions: @escaping @Sendable () -> Int) {
    parts.withLock { $0.questions = questions }
  }

  /// Gives the way to refresh a key.
  public func refreshes(_ refresh: @escaping @Sendable (Key) -> Signal<Value>) {
    parts.withLock { $0.refresh = refresh }
  }

  /// Gives the way to give memory back.
  public func trims(_ trim: @escaping @Sendable () -> Void) {
    parts.withLock { $0.trim = trim }
  }

  /// Gives the way to close what outlives the composition; then the composition is made anew now and
  /// then, and finds what was kept.
  public func closes(_ close: @escaping @Sendable () -> Signal<Void>) {
    parts.withLock { $0.closings.append(close) }
  }

  /// Gives the way to kill the process, as far as a store is concerned; then the composition is made anew
  /// now and then without being closed, and finds what had been stored.
  ///
  /// - Parameters:
  ///   - arm: Makes the store die after so many more calls that change a file.
  ///   - die: Has everything written that waits, and kills what is still alive then.
  public func dies(
    arming arm: @escaping @Sendable (_ calls: Int) -> Void,
    by die: @escaping @Sendable () async -> Void
  ) {
    parts.withLock { $0.deaths.append(HistoryDeath(arm: arm, die: die)) }
  }

  /// Gives the way to find out which values are in files: it is asked for whenever all stores are closed.
  public func leavesTraces(_ look: @escaping @Sendable () -> @Sendable (Value) -> Bool) {
    parts.withLock { $0.traces = look }
  }

  /// Runs `action` when the program is over.
  public func atEnd(_ action: @escaping @Sendable () -> Void) {
    parts.withLock { $0.endings.append(action) }
  }
}

/// A way to kill a store.
struct HistoryDeath: Sendable {
  let arm: @Sendable (Int) -> Void
  let die: @Sendable () async -> Void
}

/// The numbers of the scenes of this process.
private enum HistoryNumber {
  private static let last = Locked(0)

  static func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
