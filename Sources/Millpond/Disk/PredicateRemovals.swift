import MillpondCore
import MillpondSignals
import Synchronization

/// A removal by predicate that has not visited all entries, and the log where it has to.
///
/// Sendable because its mutable state is used only on the writing queue, and by the end of the last
/// step.
final class DiskRemoval: @unchecked Sendable {
  let predicate: KeyPredicate<String>
  let revision: Revision
  var walk = LocationWalk()
  var outcomes: [Signal<Void>] = []

  /// The hashes of the keys that the walk has removed.
  var removed: Set<KeyHash> = []

  /// The search for further values in the log, after the walk.
  var search: UnlistedValues?

  /// The first error by which a key could not be read.
  var failure: CacheError?
  private let promise = Promise<Void>()

  init(_ predicate: KeyPredicate<String>, _ revision: Revision) {
    self.predicate = predicate
    self.revision = revision
  }

  var outcome: Signal<Void> { promise.outcome }

  /// Ends the removal: its outcome waits for the writes of all removed keys.
  func end() {
    promise.keep(by: WriteOutcome.all(outcomes + (failure.map { [.fail($0)] } ?? [])))
  }
}

/// The removals by predicate that run, so that gets miss what they have not reached.
final class PredicateRemovals: Sendable {
  private let running = Locked(Registry<DiskRemoval>())

  /// The number of running removals.
  private let count = AtomicValue<Int>(0)

  /// The number of the latest running removal; zero if there is none.
  var lastNumber: Int { running.withLock { $0.latestNumber } }

  func isAny(upTo number: Int) -> Bool {
    running.withLock { $0.isAny(upTo: number) }
  }

  func add(_ removal: DiskRemoval) -> Int {
    running.withLock { running in
      defer { count.store(running.elements.count, ordering: .releasing) }
      return running.add(removal)
    }
  }

  func remove(_ number: Int) {
    running.discard { running in
      defer { count.store(running.elements.count, ordering: .releasing) }
      return running.remove(number)
    }
  }

  /// Returns the latest running removal that concerns a key; calls users' predicates.
  func last(of key: String) -> Revision {
    if count.load(ordering: .acquiring) == 0 { return .none }
    let removals = running.withLock { Array($0.elements) }
    return removals.filter { $0.predicate.isSatisfied(by: key) }.map(\.revision).max() ?? .none
  }
}
