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
          validator: stamped.validator, revision: revision), at: now)
    case .fill(let key, let stamped, let token):
      let key = key.canonicalText
      if token.isRenewal {
        return renew(key, stamped.map { _ in }, token, timeToLive)
      }
      return fill(key, stamped, token, timeToLive, at: now)
    case .remove(let key, let revision): return remove(key.canonicalText, revision)
    case .removeAll(let revision): return removeAll(revision)
    case .removeMatching(let predicate, let revision): return removeMatching(predicate, revision)
    }
  }

  func fill(
    _ key: String, _ stamped: Stamped<Data>, _ token: FillToken, _ timeToLive: TimeToLive,
    at now: WallTime
  ) -> Signal<Void> {
    keep(
      DiskWrite(
        key: key, .value(stamped.value), .ofFill(stamped, timeToLive, at: now),
        validator: stamped.validator, revision: .none), token, at: now)
  }

  func remove(_ key: String, _ revision: Revision) -> Signal<Void> {
    carryOut(removal(of: key, revision), compare: { .max })
  }

  func removal(
    of key: String, _ revision: Revision, _ content: DiskWrite.Content = .removal
  ) -> DiskWrite {
    DiskWrite(key: key, content, DiskExpiry(storedAt: options.now()), revision: revision)
  }

  /// Removes everything at once; the outcome succeeds when no file contains any of it.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    let outcome = carryOut(removal(of: "", revision, .removalOfAll), compare: { .max })
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
  ///
  /// - Parameters:
  ///   - write: The write or fill.
  ///   - token: The token of a fill; nil for a write.
  ///   - now: The time of the write.
  func keep(_ write: DiskWrite, _ token: FillToken? = nil, at now: WallTime) -> Signal<Void> {
    let cost = cost(of: write, at: now)
    func compare() -> Int? {
      if let token { return removals.compare(write.key, token) }
      return removals.compare(write.key, write.revision)
    }
    if let error = refusal(of: write, at: now) {
      if token == nil {
        removeFile(of: write)
      } else {
        _ = carryOut(write, cost: cost, token, compare: compare)
      }
      return .fail(error)
    }
    return carryOut(write, cost: cost, token, compare: compare)
  }

  /// Returns the failure of a value that is larger than the cache's limit.
  func refusal(of write: DiskWrite, at now: WallTime) -> DiskError? {
    let cost = cost(of: write)
    if cost <= limits.costLimit || limits.byteLimit <= 0 || write.times.expiresAt <= now {
      return nil
    }
    let byteCount = cost == .max ? max(write.waitingBytes, write.largeLength) : cost
    return .tooLarge(write.key, byteCount, in: path, limit: limits.costLimit)
  }

  /// Returns the cost of a write; the greatest number for one that is over already.
  func cost(of write: DiskWrite, at now: WallTime) -> Int {
    write.times.expiresAt <= now ? .max : cost(of: write)
  }

  /// Returns the cost of a write; the greatest number for a value that can't be stored at all.
  func cost(of write: DiskWrite) -> Int {
    let (large, size) = (write.largeLength, write.recordSize)
    guard size <= RecordHead.greatestSize, large <= FileValue.greatestLength else { return .max }
    return DiskLimits.cost(recordSize: size, large: large)
  }

  /// Carries out a write or fill in the index, and wakes the writer.
  ///
  /// - Parameters:
  ///   - write: The write or fill.
  ///   - cost: The cost of its value.
  ///   - token: The token of a fill; nil for a write.
  ///   - compare: Compares it with later removals by predicate; nil if one concerns its key.
  func carryOut(
    _ write: DiskWrite, cost: Int = 0, _ token: FillToken? = nil, compare: () -> Int?
  ) -> Signal<Void> {
    while let compared = compare() {
      let decision = state.withLock { $0.admit(write, cost: cost, token, compared: compared) }
      if let decision { return finish(write, token, decision) }
    }
    return finish(write, token, nil)
  }

  /// Carries out writes that are on disk together or not at all.
  ///
  /// - Parameters:
  ///   - group: The writes.
  ///   - now: The time of the writes.
  /// - Returns: The outcome of each.
  func carryOut(_ group: [DiskWrite], at now: WallTime) -> [Signal<Void>] {
    while true {
      let compared = group.map { write in
        (write, cost(of: write, at: now), removals.compare(write.key, write.revision))
      }
      guard let decisions = state.withLock({ $0.admit(compared) }) else { continue }
      return zip(group, decisions).map { finish($0, nil, $1) }
    }
  }

  /// Carries out a decision, and returns the outcome of the write.
  func finish(
    _ write: DiskWrite, _ token: FillToken?, _ decision: DiskIndex.Consequence?
  ) -> Signal<Void> {
    guard var consequence = decision, consequence.isToBeWritten else {
      removeFile(of: write)
      let isOutdated = state.withLock { $0.index.leavesOutdated(write, token) }
      if isOutdated {
        guard let token else { return remove(write.key, write.revision.unmarked) }
        return remove(write.key, token.revision.ofAnswer).ignoreValues(as: Void.self)
      }
      if let replacing = decision?.replacing { return replacing.promise.outcome }
      return token == nil ? .just(()) : .empty
    }
    carryOut(&consequence)
    return token == nil
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
