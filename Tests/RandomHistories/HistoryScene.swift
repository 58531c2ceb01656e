package import MillpondCore
package import MillpondSignals
package import MillpondTesting
import Synchronization

/// The scene of a program: an origin, a clock and a scope for a composition.
///
/// The composition declares here which other features it has, on the thread that makes it.
@dynamicMemberLookup
package final class HistoryScene<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  /// The source under all layers, which answers when the program says so, and ignores cancellation.
  package let origin: HistoryOrigin<Key, Value>

  /// The clock of the scene, which the program advances.
  package let clock: ManualClock

  /// A scope that the program ends now and then, if the composition declares its use.
  ///
  /// The end of the scope counts as a removal of everything.
  package let scope = CacheScope()

  /// The seed of the program, for compositions that are drawn at random.
  package let seed: UInt64

  /// A name that is unique among scenes, for folders and the like; a restart keeps it.
  package let name: String

  private let log: HistoryLog<Key, Value>
  let gate: HistoryGate
  let features = Locked(HistoryFeatures<Key, Value>())

  /// - Parameter usesTasks: Whether the origin may answer in tasks.
  init(
    _ log: HistoryLog<Key, Value>, seed: UInt64, usesTasks: Bool,
    value: @escaping @Sendable (Key, Int) -> Value
  ) {
    self.seed = seed
    self.log = log
    clock = log.content.clock
    name = "\(seed)-\(lastNumber.wrappingAdd(1, ordering: .relaxed).newValue)"
    let usesTasks = usesTasks && seed % 4 == 3
    features.withLock { $0.usesTasks = usesTasks }
    origin = HistoryOrigin(log, usesTasks ? .tasks : .callbacks, value: value)
    gate = HistoryGate { log.change { _ in } }
  }

  /// A feature of the composition.
  package subscript<Feature: Sendable>(
    dynamicMember path: WritableKeyPath<HistoryFeatures<Key, Value>, Feature>
  ) -> Feature {
    get { features.withLock { $0[keyPath: path] } }
    set { features.withLock { $0[keyPath: path] = newValue } }
  }

  /// Adds a line to the description of a failure, such as the randomly drawn composition.
  package func says(_ line: String) {
    log.say(line)
  }

  /// Waits as long as the program says; for slow closures, such as codecs.
  package func takesTime() async {
    features.withLock { $0.takesTime = true }
    await gate.pass()
  }

  /// Makes the origin send events after the end of its run's lifetime, against the promise of
  /// `Signal.init`.
  ///
  /// No such event may be stored.
  package func originSendsUnchecked() {
    features.withLock { $0.isUnchecked = true }
    origin.sendsUnchecked()
  }
}

/// The number of scenes of this process.
private let lastNumber = Atomic(0)

/// The features of a composition, beyond those of every cache.
package struct HistoryFeatures<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  /// Other entry points to the same stores.
  ///
  /// A write through one entry point is visible through another after its outcome.
  package var entryPoints: [AnyCache<Key, Value>] = []

  /// Returns the state of a key, which sends nil while there is no value.
  package var states: (@Sendable (Key) -> Signal<Value?>)?

  /// Refreshes a key.
  package var refresh: (@Sendable (Key) -> Signal<Value>)?

  /// Frees memory.
  package var trim: (@Sendable () -> Void)?

  /// Closures that close stores which outlive the composition.
  ///
  /// The program then makes the composition anew now and then, and it finds the stored values.
  package var closings: [@Sendable () -> Signal<Void>] = []

  /// Actions after the program.
  package var endings: [@Sendable () -> Void] = []

  /// Actions right before the end of the scope.
  package var signOuts: [@Sendable () -> Void] = []

  /// The time after which every layer drops values, so that ages are judged.
  ///
  /// Layers measure it by the clock of the scene, or by a calendar that moves with it.
  package var life: Duration?

  /// Actions that make a layer use the clock, because only then does it notice that the clock was
  /// set.
  package var clockUses: [@Sendable () -> Void] = []

  /// The ways to kill the process, one for each store.
  ///
  /// The program then makes the composition anew now and then without closing it, and it finds the
  /// stored values.
  package var deaths: [HistoryKill] = []

  /// Inspects the files, whenever all stores are closed: makes a test of whether a value is in one.
  package var traces: (@Sendable () -> @Sendable (Value) -> Bool)?

  /// Returns the number of hits and misses of the layer that every get asks.
  ///
  /// A reload bypasses layers, and is not counted.
  package var questions: (@Sendable () -> Int)?

  /// Whether the composition ends with the scope.
  package var isScoped = false

  /// Whether values may be evicted, so that a miss is no fault.
  package var mayForget = false

  /// Whether gets follow their value, and do not end by themselves.
  package var goesOn = false

  /// Whether the composition delivers values on its own threads, for example through a queue.
  package var answersElsewhere = false

  /// Whether the origin breaks the promise to send nothing after the lifetime's end.
  var isUnchecked = false

  /// Whether fills take time that no outcome reports.
  var takesTime = false

  /// Whether the origin answers in tasks, which may be notifying observers when a write returns.
  var usesTasks = false

  /// Whether values arrive on other threads than the program's, so that a closure that began
  /// before a disposal may run after the disposal has returned.
  var mayDeliverMeanwhile: Bool { answersElsewhere || usesTasks }
}

/// A way to kill the process, as far as one store is concerned.
package struct HistoryKill: Sendable {
  /// Makes the store die after so many more calls that change a file.
  let arm: @Sendable (Int) -> Void

  /// Waits for pending writes, and kills a store that is still alive then.
  let die: @Sendable () async -> Void

  package init(arm: @escaping @Sendable (Int) -> Void, die: @escaping @Sendable () async -> Void) {
    self.arm = arm
    self.die = die
  }
}
