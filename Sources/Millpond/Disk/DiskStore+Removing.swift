import Dispatch
import MillpondCore
import MillpondSignals
import Synchronization

/// Removals by predicate: since the index has no keys, they are read from the records, on the
/// writing queue and in steps between which other writes are carried out.
extension DiskStore {
  /// Removes the values of all keys that satisfy the predicate and were not written later.
  ///
  /// Gets miss them at once; the outcome succeeds when the removals are on disk.
  func removeMatching(
    _ predicate: KeyPredicate<String>, _ revision: Revision
  ) -> Signal<Void> {
    let mark = removals.add(predicate, revision)
    let removal = DiskRemoval(predicate, revision)
    let number = running.add(removal)
    state.withLock { $0.index.writes.note(mark) }
    // After all earlier writes, so that the keys of their values are in records.
    afterWriting { self.step(removal, number) }
    return removal.outcome
  }

  /// Visits the next entries of a removal; only on the writing queue.
  private func step(_ removal: DiskRemoval, _ number: Int) {
    var entries: ContiguousArray<LocationWalk.Entry> = []
    let goesOn = state.withLock { state in
      removal.walk.step(&state.index) { entries.append($0) }
    }
    for entry in entries where entry.revision < removal.revision {
      guard let key = key(of: entry, for: removal), removal.predicate.isSatisfied(by: key) else {
        continue
      }
      removal.outcomes.append(remove(key, removal.revision).signal)
    }
    if goesOn { return afterWriting { self.step(removal, number) } }
    // Behind the removals of this step, so that a flush waits for them.
    afterWriting {
      self.running.remove(number)
      self.outcomes.async { removal.end() }
    }
  }

  /// Returns the key of a record; nil if it is damaged, or can't be read.
  private func key(of entry: LocationWalk.Entry, for removal: DiskRemoval) -> String? {
    do {
      return try readKey(entry.hash, entry.location)
    } catch {
      removal.failure = removal.failure ?? CacheError(disk: error, folder)
      return nil
    }
  }

  /// Completes `done` when no removal that has begun by now runs any more.
  func afterRemovals(_ done: @escaping @Sendable () -> Void) {
    afterRemovals(upTo: running.lastNumber, done)
  }

  private func afterRemovals(upTo number: Int, _ done: @escaping @Sendable () -> Void) {
    afterWriting {
      if self.running.isAny(upTo: number) { return self.afterRemovals(upTo: number, done) }
      done()
    }
  }
}

/// A removal by predicate that has not visited all entries.
///
/// Sendable because its mutable state is used only on the writing queue, and by the end of the last
/// step.
final class DiskRemoval: @unchecked Sendable {
  let predicate: KeyPredicate<String>
  let revision: Revision
  var walk = LocationWalk()
  var outcomes: [Signal<Void>] = []

  /// The first error by which a key could not be read.
  var failure: CacheError?
  private let promise = Promise<Void>()

  init(_ predicate: KeyPredicate<String>, _ revision: Revision) {
    self.predicate = predicate
    self.revision = revision
  }

  var outcome: Signal<Void> { promise.outcome }

  /// Lets the outcome wait for all removed keys.
  func end() {
    promise.keep(by: WriteOutcome.all(outcomes + (failure.map { [.fail($0)] } ?? [])))
  }
}

/// The removals by predicate that run, so that gets miss what they have not reached.
final class RunningRemovals: Sendable {
  private struct State: Sendable {
    var removals: [Int: DiskRemoval] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())

  /// The number of running removals.
  private let count = Atomic<Int>(0)

  var lastNumber: Int { state.withLock { $0.lastNumber } }

  func isAny(upTo number: Int) -> Bool {
    state.withLock { state in state.removals.keys.contains { $0 <= number } }
  }

  func add(_ removal: DiskRemoval) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.removals[state.lastNumber] = removal
      count.store(state.removals.count, ordering: .releasing)
      return state.lastNumber
    }
  }

  func remove(_ number: Int) {
    let gone = state.withLock { state in
      defer { count.store(state.removals.count, ordering: .releasing) }
      return state.removals.removeValue(forKey: number)
    }
    _ = gone  // released here, not under the lock
  }

  /// Returns the latest running removal that concerns a key; calls users' predicates.
  func last(of key: String) -> Revision {
    if count.load(ordering: .acquiring) == 0 { return .none }
    let removals = state.withLock { Array($0.removals.values) }
    return removals.filter { $0.predicate.isSatisfied(by: key) }.map(\.revision).max() ?? .none
  }
}
