public import Foundation
import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Stores several values, at once, so that all of them are on disk or none.
  ///
  ///     cache.set(all: ["profile": profile, "settings": settings])
  ///
  /// If the process is killed, or the device cuts the log short, all keys have their new values at
  /// the next opening, or those before; a later write of a key may have replaced its value. If one
  /// value can't be written, none is, and each key has the value before. A value that is larger
  /// than the cache may hold, or not worth the evictions, is left out of the others; the first
  /// fails. After a power cut a value of 64 KiB or more that was not flushed may be the one before.
  /// Damage to a value that is on disk is a miss of that value, or of all that were set with
  /// it.
  ///
  /// If they take more than 4 GiB of the log, all fail. Through other caches, as a layered one, each
  /// value is a write of its own. While they are written, or moved by a
  /// compaction, the folder may be larger than its limit by as much as they take. Values that wait
  /// are in memory as well as earlier ones of the same keys that wait.
  ///
  /// - Parameter values: The values by their keys.
  /// - Returns: The outcome of all, which may be ignored; disposing of it cancels nothing. When all
  ///   have ended, it fails with `CacheError.partlyWritten(failures:count:)` if any failed.
  @discardableResult
  public func set(all values: [String: Data]) -> Signal<Void> {
    let (store, timeToLive) = access.forWriting
    let revision = Revision.next()
    return carryOut(by: store, revision) { store, _ in store.set(values, revision, timeToLive) }
  }

  /// Stores and removes values that must be kept, all of them or none, for an archive, which alone
  /// writes to the cache.
  ///
  /// - Parameter values: The values, at most one for a key; nil for a removal.
  /// - Throws: `CacheError.full(layer:byteCount:limit:)` if there is no room for them.
  package func keep(_ values: [(key: String, value: Data?)]) -> Signal<Void> {
    let revision = Revision.next()
    return carryOut(by: access.store, revision) { store, _ in store.keep(values, revision) }
  }
}

extension DiskStore {
  fileprivate func set(
    _ values: [String: Data], _ revision: Revision, _ timeToLive: TimeToLive
  ) -> Signal<Void> {
    let now = options.now()
    var outcomes: [(String, Signal<Void>)] = []
    var group: [DiskWrite] = []
    for (key, value) in values {
      let write = DiskWrite(
        key: key.canonicalText, .value(value), .ofWrite(Stamped(value), timeToLive, at: now),
        at: now, revision: revision, isOfGroup: values.count > 1)
      if let error = refusal(of: write) {
        outcomes.append((write.key, .fail(error)))
      } else {
        group.append(write)
      }
    }
    outcomes += zip(group.map(\.key), carryOut(group))
    return WriteOutcome.named(outcomes)
  }

  /// Nothing is evicted for the values, and they don't expire.
  fileprivate func keep(
    _ values: [(key: String, value: Data?)], _ revision: Revision
  ) -> Signal<Void> {
    let now = options.now()
    let writes = values.map { key, value in
      DiskWrite(
        key: key.canonicalText, value.map { .value($0) } ?? .removal, DiskExpiry(storedAt: now),
        at: now, revision: revision, isToBeKept: true, isOfGroup: true)
    }
    let missing = state.withLock { $0.index.missingBytes(for: writes) }
    if missing == 0 { return WriteOutcome.all(carryOut(writes)) }
    let (byteCount, overflow) = limits.byteLimit.addingReportingOverflow(missing)
    return .fail(
      CacheError.full(
        layer: "\(CacheError.diskLayer) in \(path)", byteCount: overflow ? .max : byteCount,
        limit: limits.byteLimit))
  }
}
