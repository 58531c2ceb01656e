import Foundation
import MillpondCore
import MillpondSignals

/// The storage of values that must be kept, for an archive, which alone writes to the cache.
///
/// If there is room for them, nothing is evicted, and nothing expires.
extension DiskStore {
  /// Stores and removes values together or not at all.
  ///
  /// - Parameters:
  ///   - values: The values, at most one for a key; nil for a removal.
  ///   - revision: The place of all of them in the order of all writes.
  /// - Returns: The outcome; it fails at once if there is no room for them in place of those that
  ///   their keys have.
  func keep(_ values: [(key: String, value: Data?)], _ revision: Revision) -> Signal<Void> {
    let now = options.now()
    let writes = values.map { key, value in
      DiskWrite(
        key: key.canonicalText, value.map { .value($0) } ?? .removal, DiskExpiry(storedAt: now),
        revision: revision, isToBeKept: true, isOfGroup: true)
    }
    if let error = lackOfRoom(for: writes) { return .fail(error) }
    return WriteOutcome.all(carryOut(writes, at: now))
  }

  private func lackOfRoom(for writes: [DiskWrite]) -> CacheError? {
    let entries = writes.map { (hash: $0.hash, cost: $0.isRemoval ? 0 : cost(of: $0)) }
    let missing = state.withLock { $0.index.missingBytes(for: entries) }
    if missing == 0 { return nil }
    let (byteCount, overflow) = limits.byteLimit.addingReportingOverflow(missing)
    return .full(
      layer: "\(CacheError.diskLayer) in \(path)", byteCount: overflow ? .max : byteCount,
      limit: limits.byteLimit)
  }
}
