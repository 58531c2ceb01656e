import Dispatch
import MillpondCore
import MillpondSignals

/// Removals by predicate: since the index has no keys, they are read from the records, on the
/// writing queue and in steps between which other writes are carried out. Values that the index does
/// not list any more are removed too: of evicted ones, and of those whose removal failed, the records
/// may still be in the log.
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
      removal.removed.insert(entry.hash)
      removal.outcomes.append(remove(key, removal.revision))
    }
    if goesOn { return afterWriting { self.step(removal, number) } }
    // The walk misses what other removals have dropped from the index. They may still be in the
    // queue, and fail.
    afterWriting {
      if self.state.withLock({ $0.index.mayOmitValues }) {
        removal.search = UnlistedValues(in: self.writer.parts)
      }
      self.search(removal, number)
    }
  }

  /// Searches the next part of the log for values that the index does not list; only on the writing
  /// queue.
  private func search(_ removal: DiskRemoval, _ number: Int) {
    var goesOn = false
    do {
      goesOn =
        try removal.search?.step(
          { hash in !removal.removed.contains(hash) && !hasEntry(hash) },
          { removal.predicate.isSatisfied(by: $0) }) ?? false
    } catch {
      removal.failure = removal.failure ?? CacheError(disk: error, folder)
    }
    if goesOn { return afterWriting { self.search(removal, number) } }
    if let search = exchange(&removal.search, with: nil) {
      // One that is listed now was stored meanwhile.
      for (hash, key) in search.keys where !hasEntry(hash) {
        removal.outcomes.append(remove(key, removal.revision))
      }
    }
    end(removal, number)
  }

  private func end(_ removal: DiskRemoval, _ number: Int) {
    // Behind the removals of the last step, so that a flush waits for them.
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
