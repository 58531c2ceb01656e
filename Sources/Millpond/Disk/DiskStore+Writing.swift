import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Applies a change at once; the outcome succeeds when it is on disk.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - timeToLive: The time to live of a value without one of its own.
  func apply(_ change: Change<String, Data>, _ timeToLive: TimeToLive) -> Signal<Void> {
    let now = options.now()
    switch change {
    case .set(let key, let stamped, let revision):
      return keep(
        DiskWrite(
          key: key.canonicalText, .value(stamped.value), .ofWrite(stamped, timeToLive, at: now),
          at: now, validator: stamped.validator, revision: revision))
    case .fill(let key, let stamped, let token) where token.isRenewal:
      return renew(key.canonicalText, stamped.map { _ in }, token, timeToLive)
    case .fill(let key, let stamped, let token):
      return keep(
        DiskWrite(
          key: key.canonicalText, .value(stamped.value), .ofFill(stamped, timeToLive, at: now),
          at: now, validator: stamped.validator, revision: .none, token))
    case .remove(let key, let revision): return remove(key.canonicalText, revision)
    case .removeAll(let revision): return removeAll(revision)
    case .removeMatching(let predicate, let revision): return removeMatching(predicate, revision)
    }
  }

  func remove(_ key: String, _ revision: Revision) -> Signal<Void> {
    carryOut(removal(of: key, revision))
  }

  private func removal(
    of key: String, _ revision: Revision, _ content: DiskWrite.Content = .removal
  ) -> DiskWrite {
    let now = options.now()
    return DiskWrite(key: key, content, DiskExpiry(storedAt: now), at: now, revision: revision)
  }

  /// Removes everything at once; the outcome succeeds when no file contains any of it.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    let outcome = carryOut(removal(of: "", revision, .removalOfAll))
    // Only now, since the index refuses what these removals refused.
    removals.forget(upTo: revision)
    let streams = streams.erase(before: revision)
    return outcome.flatMap { _ in streams }
      .flatMap { _ in self.outcomeAfterWriting { try self.erase() } }.started()
  }

  /// Keeps a value; one that is larger than the cache's limit fails.
  ///
  /// A set that fails leaves the value before it. A fill does not, since that value is out of date.
  /// With a limit of zero every value is too large, and setting it succeeds without an effect.
  func keep(_ write: DiskWrite) -> Signal<Void> {
    guard let error = refusal(of: write) else { return carryOut(write) }
    if write.token == nil { removeFile(of: write) } else { _ = carryOut(write) }
    return .fail(error)
  }

  /// Returns the failure of a value that is larger than the cache's limit.
  func refusal(of write: DiskWrite) -> DiskError? {
    if write.cost <= limits.costLimit || limits.byteLimit <= 0 || write.isOver { return nil }
    let byteCount =
      write.cost == .max ? max(write.waitingBytes, write.largeLength) : write.cost
    return .tooLarge(write.key, byteCount, in: path, limit: limits.costLimit)
  }

  /// Carries out a write or fill in the index, and wakes the writer.
  private func carryOut(_ write: DiskWrite) -> Signal<Void> {
    while let compared = compare(write) {
      let decision = state.withLock { $0.admit(write, compared: compared) }
      if let decision { return finish(write, decision) }
    }
    return finish(write, nil)
  }

  /// Carries out writes that are on disk together or not at all; returns the outcome of each.
  func carryOut(_ group: [DiskWrite]) -> [Signal<Void>] {
    while true {
      let compared = group.map { ($0, compare($0)) }
      guard let decisions = state.withLock({ $0.admit(compared) }) else { continue }
      return zip(group, decisions).map { finish($0, $1) }
    }
  }

  /// Compares a write with later removals by predicate, and returns the number of the last one; nil
  /// if one of them concerns its key.
  private func compare(_ write: DiskWrite) -> Int? {
    if write.isRemoval { return .max }
    if let token = write.token { return removals.compare(write.key, token) }
    return removals.compare(write.key, write.revision)
  }

  /// Carries out a decision, nil if a removal by predicate concerns the key, and returns the outcome
  /// of the write.
  private func finish(_ write: DiskWrite, _ decision: DiskIndex.Consequence?) -> Signal<Void> {
    guard var consequence = decision, consequence.isToBeWritten else {
      removeFile(of: write)
      let isOutdated = state.withLock { $0.index.leavesOutdated(write) }
      if isOutdated {
        guard let token = write.token else { return remove(write.key, write.revision.unmarked) }
        return remove(write.key, token.revision.ofAnswer).ignoreValues(as: Void.self)
      }
      if let replacing = decision?.replacing { return replacing.promise.outcome }
      return write.token == nil ? .just(()) : .empty
    }
    carryOut(&consequence)
    return write.token == nil
      ? write.promise.outcome : write.promise.outcome(ofFill: consequence.isKept)
  }

  /// Carries out, outside of the lock, what a change of the index has left.
  private func carryOut(_ consequence: inout DiskIndex.Consequence) {
    withExtendedLifetime(exchange(&consequence.dropped, with: [])) {}
    // In the background, since releasing the memory of many entries takes a while.
    if let former = exchange(&consequence.former, with: nil) { outcomes.async { _ = former } }
    remove(consequence.files)
    if consequence.wakesWriter { wakeWriter() }
  }

  /// Removes the file of a streamed value that is not admitted.
  private func removeFile(of write: DiskWrite) {
    if let file = write.file { remove([file.number]) }
  }

  /// Removes files of large values that are not needed, after their replacements have been written.
  @inline(never)
  func remove(_ files: [UInt64]) {
    if !files.isEmpty { afterWriting { self.writer.remove(files) } }
  }

  /// Drops a record that is damaged, expired or lost; false if the key has another record, or none.
  ///
  /// - Parameters:
  ///   - hash: The hash of the key.
  ///   - location: The location of the record.
  ///   - key: The key if it is known; then its removal is written, so that an older value in the
  ///     log does not reappear.
  ///   - count: Counts the drop in the statistics.
  func forget(
    _ hash: KeyHash, at location: RecordLocation, key: String?,
    _ count: (inout DiskStatistics) -> Void
  ) -> Bool {
    let write = key.map { removal(of: $0, .none) }
    let consequence = state.withLock { state -> DiskIndex.Consequence? in
      guard var consequence = state.index.forget(hash, at: location) else { return nil }
      count(&state.index.statistics)
      if let write { state.queue.append(write, &consequence) }
      return consequence
    }
    guard var consequence else { return false }
    carryOut(&consequence)
    return true
  }
}
