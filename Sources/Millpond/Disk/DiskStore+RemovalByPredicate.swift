import Dispatch
import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Removes the values of all keys that satisfy the predicate and were not written later.
  ///
  /// Gets miss them at once; the outcome succeeds when the removals are on disk.
  func removeMatching(
    _ predicate: KeyPredicate<String>, _ revision: Revision
  ) -> Signal<Void> {
    let place = removals.add(predicate, revision)
    let removal = DiskRemoval(predicate, revision)
    let number = running.add(removal)
    state.withLock { $0.index.writes.noteRemoval(revision, place) }
    // After all earlier writes, so that the keys of their values are in records.
    afterWriting {
      removal.begin(in: self.writer.parts)
      self.step(removal, number)
    }
    return removal.outcome
  }

  /// Reads the next records for a removal, and removes what was found at the end; only on the
  /// writing queue, on which other writes are carried out between the steps.
  private func step(_ removal: DiskRemoval, _ number: Int) {
    if removal.step() { return afterWriting { self.step(removal, number) } }
    let outcomes = removal.keys.map { remove($0, removal.revision) }
    // Behind the removals, so that a flush waits for them.
    afterWriting {
      self.running.remove(number)
      self.outcomes.async { removal.end(outcomes, in: self.folder) }
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
