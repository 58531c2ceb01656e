import MillpondSignals

/// Removals by predicate, and the sets and fills that arrive after a later one.
extension MemoryCache {
  /// Removes the values of all keys that satisfy the predicate and were not written later.
  @usableFromInline
  func removeMatching(_ predicate: KeyPredicate<Key>, _ revision: Revision) {
    let place = removalsByPredicate.add(predicate, revision)
    // Before the keys are collected: whatever is stored later has been compared with the predicate.
    shards.forEach { store in
      store.writes.noteRemoval(revision, place)
      return true
    }
    for key in shards.keys(before: revision, time.now()) where predicate.isSatisfied(by: key) {
      removeStored(key, revision)
    }
    flights?.detach(predicate, upTo: revision)
  }

  /// Stores a value that was refused because it has to be compared with a later removal first,
  /// unless that concerns its key; removes the key if the value is a copy, and that is in doubt.
  @usableFromInline
  func setLate(
    _ key: Key, _ hash: MemoryHash, _ stamped: Stamped<Value>, _ details: MemoryDetails
  ) {
    let revision = details.revision
    var compared = 0
    while true {
      let (mustCompare, isInDoubt) = shards.withStore(hash) { store in
        (
          store.writes.mustCompare(revision, compared: compared),
          revision.isOfCopy && store.find(key, hash) != nil
        )
      }
      guard mustCompare, let number = removalsByPredicate.compare(key, revision) else {
        if isInDoubt { removeStored(key, revision.unmarked) }
        return
      }
      compared = number
      let isKept = shards.put(hash, cost: details.cost, time.now()) {
        $0.set(key, hash, stamped.value, stamped.validator, details, compared: number, &$1)
      }
      if isKept { return }
    }
  }

  /// Stores the answer of a lower layer in the same way, or removes what may be older than it.
  ///
  /// - Returns: Whether it is stored.
  @usableFromInline
  func fillLate(
    _ key: Key, _ hash: MemoryHash, _ stamped: Stamped<Value>, _ details: MemoryDetails,
    _ token: FillToken
  ) -> Bool {
    var compared = 0
    while true {
      let (mustCompare, isOutdated) = shards.withStore(hash) { store in
        (
          store.writes.mustCompare(token, compared: compared),
          store.mayBeOutdated(key, hash, token)
        )
      }
      guard mustCompare, let number = removalsByPredicate.compare(key, token) else {
        if isOutdated { removeStored(key, token.revision.ofAnswer) }
        return false
      }
      compared = number
      let isKept = shards.put(hash, cost: details.cost, time.now()) {
        $0.fill(
          key, hash, stamped.value, stamped.validator, details, token, compared: number, &$1)
      }
      if isKept { return true }
    }
  }
}

extension MemoryShards {
  /// Returns the keys of all entries that were not written after `revision`.
  ///
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  func keys(before revision: Revision, _ now: Int64) -> [Key] {
    var keys: [Key] = []
    forEachInSteps(now) { store, progress, _ in
      let end = min(progress.place + Self.stepSize, store.slab.isUsed.count)
      for slot in progress.place..<max(progress.place, end) where store.slab.isUsed[slot] {
        if store.times.stamps[slot].revision < revision {
          keys.append(store.slab.pairs[slot].key)
        }
      }
      progress.place += Self.stepSize
      return progress.place < store.slab.isUsed.count
    }
    return keys
  }
}
