import Foundation
import MillpondCore
import MillpondSignals

/// The storage of values that must be kept, for an archive, which alone writes to the cache.
///
/// It asks for room before it writes; then nothing is evicted, and nothing expires.
extension DiskStore {
  typealias KeptValue = (key: String, value: Data?)

  /// Returns the failure of values for which there is no room, in place of those that their keys
  /// have; nil if they may be stored.
  ///
  /// - Parameter values: The values, at most one for a key; nil for a removal.
  func lackOfRoom(for values: [KeptValue]) -> CacheError? {
    let entries = values.map { value in
      let write = keeping(value, .none)
      return (hash: write.hash, cost: write.isRemoval ? 0 : cost(of: write))
    }
    let missing = state.withLock { $0.index.missingBytes(for: entries) }
    if missing == 0 { return nil }
    let (byteCount, overflow) = limits.byteLimit.addingReportingOverflow(missing)
    return .full(
      layer: "\(CacheError.diskLayer) in \(path)", byteCount: overflow ? .max : byteCount,
      limit: limits.byteLimit)
  }

  /// Stores a value for which there is room, also beyond the limit, or removes it.
  func keep(_ value: KeptValue, _ revision: Revision) -> Signal<Void> {
    let write = keeping(value, revision)
    return carryOut(write, cost: cost(of: write), compare: { .max })
  }

  private func keeping(_ value: KeptValue, _ revision: Revision) -> DiskWrite {
    let key = value.key.canonicalText
    guard let bytes = value.value else { return removal(of: key, revision) }
    return DiskWrite(
      key: key, .value(bytes), DiskExpiry(storedAt: options.now()), revision: revision,
      isToBeKept: true)
  }
}
