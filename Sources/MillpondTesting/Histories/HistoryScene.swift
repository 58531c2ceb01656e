public import MillpondCore
public import MillpondSignals

/// The scene of a program: an origin, a clock and a scope for a composition.
///
/// The composition declares here which other features it has.
///
/// - Note: Any thread.
public final class HistoryScene<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  /// The source under all layers, which answers when the program says so, and ignores cancellation.
  public let origin: HistoryOrigin<Key, Value>

  /// The clock of the scene, which the program advances.
  public let clock: ManualClock

  /// A scope that the program ends now and then, if the composition declares its use.
  ///
  /// The end of the scope counts as a removal of everything.
  public let scope = CacheScope()

  /// The seed of the program, for compositions that are drawn at random.
  public let seed: UInt64

  /// A name that is unique among scenes, for folders and the like; a restart keeps it.
  public let name: String

  struct Parts: Sendable {
    var entryPoints: [AnyCache<Key, Value>] = []
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

    /// The ways to kill the process, one for each store.
    var deaths: [HistoryKill] = []

    /// Makes a test for values in files.
    var traces: (@Sendable () -> @Sendable (Value) -> Bool)?
    var questions: (@Sendable () -> Int)?
    var isScoped = false
    var mayForget = false
    var goesOn = false
    var refreshesBehind = false

    /// Whether the origin breaks the promise to send nothing after the lifetime's end.
    var isUnchecked = false

    /// Whether the composition delivers values on its own threads.
    var answersElsewhere = false

    /// Whether fills take time that no outcome reports.
    var takesTime = false

    /// Whether the origin answers in tasks, which may be notifying observers when a write returns.
    var usesTasks = false

    /// Whether values arrive on other threads than the program's, so that a closure that began
    /// before a disposal may run after the disposal has returned.
    var mayDeliverMeanwhile: Bool { answersElsewhere || usesTasks }

    /// Returns whether a value that is still shown is too old to be an answer.
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
    let usesTasks = usesTasks && seed % 4 == 3
    parts.withLock { $0.usesTasks = usesTasks }
    origin = HistoryOrigin(log, usesTasks ? .tasks : .callbacks, value: value)
    gate = HistoryGate { log.change { _ in } }
  }

  /// Adds a line to the description of a failure, such as the randomly drawn composition.
  public func says(_ line: String) {
    log.say(line)
  }

  /// Waits as long as the program says; for slow closures, such as codecs.
  public func takesTime() async {
    parts.withLock { $0.takesTime = true }
    await gate.pass()
  }

  /// Declares that the composition delivers values on its own threads, for example through a queue.
  ///
  /// A closure that began before a disposal may then still run after the disposal has returned.
  public func answersElsewhere() {
    parts.withLock { $0.answersElsewhere = true }
  }

  /// Adds another entry point to the same stores.
  ///
  /// A write through one entry point is visible through another after its outcome.
  ///
  /// - Parameter cache: The other composition of the stores.
  public func isAlsoEntered(by cache: some Cache<Key, Value>) {
    parts.withLock { $0.entryPoints.append(AnyCache(cache)) }
  }

  /// Adds an action that runs right before the end of ``scope``, and declares the use of the scope.
  public func endsScope(with action: @escaping @Sendable () -> Void) {
    parts.withLock { $0.signOuts.append(action) }
    usesScope()
  }

  /// Declares that the composition ends with ``scope``.
  public func usesScope() {
    parts.withLock { $0.isScoped = true }
  }

  /// Declares that values may be evicted, so that a miss is no fault.
  public func mayForget() {
    parts.withLock { $0.mayForget = true }
  }

  /// Makes the origin send events after the end of its run's lifetime, against the promise of
  /// `Signal.init`.
  ///
  /// No such event may be stored.
  public func originSendsUnchecked() {
    parts.withLock { $0.isUnchecked = true }
    origin.sendsUnchecked()
  }

  /// Declares that gets follow their value, and do not end by themselves.
  public func getsGoOn() {
    parts.withLock { $0.goesOn = true }
  }

  /// Declares that fetches continue for a while after their last subscriber has left.
  public func refreshesInBackground() {
    parts.withLock { $0.refreshesBehind = true }
  }

  /// Declares the policy of the composition, so that ages are judged; values may then expire.
  public func remembers(by policy: FreshnessPolicy) {
    parts.withLock { $0.policy = policy }
    origin.answersAtOnce()
    mayForget()
  }

  /// Declares that every layer drops values after `life`, so that ages are judged.
  ///
  /// Layers measure it by the clock of the scene, or by a calendar that moves with it.
  public func expires(after life: Duration) {
    parts.withLock { $0.life = life }
  }

  /// Adds an action that makes a layer use the clock, because only then does it notice that the
  /// clock was set.
  public func noticesClock(by use: @escaping @Sendable () -> Void) {
    parts.withLock { $0.clockUses.append(use) }
  }

  /// Sets the closure that returns the state of a key, which sends nil while there is no value.
  ///
  /// - Parameter states: Returns the state of a key.
  public func shows(_ states: @escaping @Sendable (Key) -> Signal<Value?>) {
    parts.withLock { $0.states = states }
  }

  /// Sets the closure that returns the number of hits and misses of the layer that every get asks.
  ///
  /// A reload bypasses layers, and is not counted.
  ///
  /// - Parameter questions: Returns the number of hits and misses.
  public func counts(_ questions: @escaping @Sendable () -> Int) {
    parts.withLock { $0.questions = questions }
  }

  /// Declares that the composition can refresh a key.
  ///
  /// - Parameter refresh: Refreshes a key.
  public func refreshes(_ refresh: @escaping @Sendable (Key) -> Signal<Value>) {
    parts.withLock { $0.refresh = refresh }
  }

  /// Sets the closure that frees memory.
  ///
  /// - Parameter trim: Frees memory.
  public func trims(_ trim: @escaping @Sendable () -> Void) {
    parts.withLock { $0.trim = trim }
  }

  /// Adds a closure that closes a store which outlives the composition.
  ///
  /// The program then makes the composition anew now and then, and it finds the stored values.
  public func closes(_ close: @escaping @Sendable () -> Signal<Void>) {
    parts.withLock { $0.closings.append(close) }
  }

  /// Adds a way to kill the process, as far as one store is concerned.
  ///
  /// The program then makes the composition anew now and then without closing it, and it finds the
  /// stored values.
  ///
  /// - Parameters:
  ///   - arm: Makes the store die after so many more calls that change a file.
  ///   - die: Waits for pending writes, and kills a store that is still alive then.
  public func dies(
    arming arm: @escaping @Sendable (_ calls: Int) -> Void,
    by die: @escaping @Sendable () async -> Void
  ) {
    parts.withLock { $0.deaths.append(HistoryKill(arm: arm, die: die)) }
  }

  /// Sets the closure that inspects the files; it is called whenever all stores are closed.
  ///
  /// - Parameter look: Returns a test of whether a value is in a file.
  public func leavesTraces(_ look: @escaping @Sendable () -> @Sendable (Value) -> Bool) {
    parts.withLock { $0.traces = look }
  }

  /// Runs `action` after the program.
  public func atEnd(_ action: @escaping @Sendable () -> Void) {
    parts.withLock { $0.endings.append(action) }
  }
}

/// A way to kill a store.
struct HistoryKill: Sendable {
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
