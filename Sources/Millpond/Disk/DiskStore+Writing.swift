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
    switch change {
    case .set(let key, let stamped, let revision):
      set(
        key, .value(stamped.value),
        .ofWrite(stamped, timeToLive, at: options.now()), revision, stamped.validator
      ).signal
    case .fill(let key, let stamped, let token):
      token.isRenewal
        ? renew(key, stamped.map { value in { value } }, token, timeToLive)
        : fill(key, stamped, token, timeToLive).signal
    case .remove(let key, let revision): remove(key, revision).signal
    case .removeAll(let revision): removeAll(revision)
    case .removeMatching(let predicate, let revision): removeMatching(predicate, revision)
    }
  }

  func remove(_ key: String, _ revision: Revision) -> DiskOutcome {
    take(
      DiskWrite(key: key, hash: KeyHash(of: key), .removal, timesOfRemoval, revision: revision)
    ) { $0.index.remove($1) }
  }

  /// Removes everything at once; the outcome succeeds when no file contains any of it.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    let removal = take(
      DiskWrite(
        key: "", hash: KeyHash(of: ""), .removalOfAll, timesOfRemoval, revision: revision)
    ) { state, _ in state.index.removeAll(revision) }
    dropRemoved()
    // Only now, since the index refuses what these removals refused.
    removals.forget(upTo: revision)
    let streams = streams.erase(before: revision)
    return removal.signal.flatMap { _ in streams }.flatMap { _ in
      Signal { observer, _ in
        self.afterWriting {
          let result = Result { try self.erase() }.mapError { CacheError(disk: $0, self.folder) }
          self.outcomes.async { observer.end(with: result) }
        }
      }
    }.started()
  }

  /// Drops what a removal of everything has left behind, if anything, with the lock free between
  /// the steps.
  private func dropRemoved() {
    while true {
      let (goesOn, consequence, dropped) = state.withLock { state in
        if state.index.removed == nil && !state.index.order.isSparse {
          return (false, DiskIndex.Consequence(), [DiskWrite.Content]())
        }
        let goesOn = state.index.dropRemoved()
        let consequence = state.index.takeConsequence()
        return (goesOn, consequence, state.queue.drop(consequence.evicted))
      }
      withExtendedLifetime(dropped) {}  // released here, not under the lock
      release(consequence.former)
      remove(consequence.files)
      if !goesOn { return }
    }
  }

  func set(
    _ key: String, _ content: DiskWrite.Content, _ times: DiskExpiry, _ revision: Revision,
    _ validator: Validator?
  ) -> DiskOutcome {
    let write = DiskWrite(
      key: key, hash: KeyHash(of: key), content, times, validator: validator, revision: revision)
    return keep(write, { self.removals.compare(key, revision) }) { state, write, cost, compared in
      if state.index.writes.mustCompare(revision, compared: compared) { return nil }
      return state.index.set(write, cost: cost)
    }
  }

  private var timesOfRemoval: DiskExpiry { DiskExpiry(storedAt: options.now()) }

  func fill(
    _ key: String, _ stamped: Stamped<Data>, _ token: FillToken, _ timeToLive: TimeToLive
  ) -> DiskOutcome {
    let write = DiskWrite(
      key: key, hash: KeyHash(of: key), .value(stamped.value),
      .ofFill(stamped, timeToLive, at: options.now()), validator: stamped.validator,
      revision: .none)
    return keep(write, { self.removals.compare(key, token) }) { state, write, cost, compared in
      if state.index.writes.mustCompare(token, compared: compared) { return nil }
      let consequence = state.index.fill(write, cost: cost, token)
      write.outcome.isFill(admitted: consequence.isToBeWritten && !write.isVoid)
      return consequence
    }
  }

  /// Admits a value; one that is larger than the cache's limit fails.
  ///
  /// With a limit of zero every value is too large, and setting it succeeds without an effect.
  ///
  /// - Parameters:
  ///   - write: The write or fill.
  ///   - compare: Compares it with later removals by predicate; nil if one concerns its key.
  ///   - decide: Returns nil if it has to be compared again.
  func keep(
    _ write: DiskWrite, _ compare: () -> Int?,
    _ decide: (inout DiskState, DiskWrite, _ cost: Int, _ compared: Int) -> DiskIndex.Consequence?
  ) -> DiskOutcome {
    let isOver = write.times.expiresAt <= options.now()
    let cost = isOver ? .max : cost(of: write)
    guard cost > limits.costLimit, limits.byteLimit > 0, !isOver else {
      while let compared = compare() {
        if let outcome = take(write, { decide(&$0, $1, cost, compared) }) { return outcome }
      }
      // A later removal concerns its key.
      removeFile(of: write)
      if write.revision == .none { write.outcome.isFill(admitted: false) }
      _ = write.outcome.end(with: .success(()))
      return write.outcome
    }
    removeFile(of: write)
    let size = max(write.waitingBytes, write.largeLength)
    let error = DiskError.tooLarge(
      folder: path, key: write.key, byteCount: size, limit: limits.costLimit)
    _ = write.outcome.end(with: .failure(CacheError(disk: error)))
    return write.outcome
  }

  /// Returns the cost of a write; the greatest number for a value that can't be stored at all.
  private func cost(of write: DiskWrite) -> Int {
    let large = write.largeLength
    var payload = FileValue.size
    if case .value(let value) = write.content, large == 0 { payload = value.count }
    let size = RecordHead.recordSize(key: write.key, payload: payload, write.validator)
    guard size <= RecordHead.greatestSize, large <= FileValue.greatestLength else { return .max }
    return DiskLimits.cost(recordSize: size, large: large)
  }

  private func take(
    _ write: DiskWrite, _ decide: (inout DiskState, DiskWrite) -> DiskIndex.Consequence
  ) -> DiskOutcome {
    // Never nil, since the decision is not.
    take(write, { .some(decide(&$0, $1)) }) ?? write.outcome
  }

  /// Carries out the decision about a write; nil if there is none yet.
  private func take(
    _ write: DiskWrite, _ decide: (inout DiskState, DiskWrite) -> DiskIndex.Consequence?
  ) -> DiskOutcome? {
    let bytes = write.isRemoval ? 0 : write.waitingBytes
    typealias Answer = (
      queued: (wakes: Bool, dropped: [DiskWrite.Content])?, DiskIndex.Consequence,
      former: (any Sendable)?
    )
    let answer = state.withLock { state -> Answer? in
      guard var consequence = decide(&state, write) else { return nil }
      let former = exchange(&consequence.former, with: nil)
      guard consequence.isToBeWritten else { return (nil, consequence, former) }
      state.index.statistics.bytesAccepted += bytes
      return (state.queue.append(write, consequence), consequence, former)
    }
    guard let (queued, consequence, former) = answer else { return nil }
    release(former)
    guard let queued else {
      removeFile(of: write)
      _ = write.outcome.end(with: .success(()))
      return write.outcome
    }
    remove(consequence.files)
    if queued.wakes { wakeWriter() }
    return write.outcome
  }

  /// Releases the memory of former entries in the background: that of a million takes a while.
  private func release(_ former: (any Sendable)?) {
    if let former { outcomes.async { _ = former } }
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
    let removal = key.map {
      DiskWrite(key: $0, hash: hash, .removal, timesOfRemoval, revision: .none)
    }
    let (files, wakes) = state.withLock { state -> ([UInt64]?, Bool) in
      guard let files = state.index.forget(hash, at: location) else { return (nil, false) }
      count(&state.index.statistics)
      return (files, removal.map { state.queue.append($0).wakes } ?? false)
    }
    if wakes { wakeWriter() }
    remove(files ?? [])
    return files != nil
  }
}
