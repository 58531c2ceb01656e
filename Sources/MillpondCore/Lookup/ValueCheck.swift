import MillpondSignals

/// A check of a layer's values by a codec above it: a value that it cannot decode is no hit.
@usableFromInline
final class ValueCheck: Sendable {
  private let waiting = Locked<[@Sendable (CacheEvent.Kind?) -> Void]>([])

  @usableFromInline
  init() {}

  /// Calls `report` once the next value has been checked, with its flaw or nil.
  func wait(_ report: @escaping @Sendable (CacheEvent.Kind?) -> Void) {
    waiting.withLock { $0.append(report) }
  }

  /// Reports the pending answers of the layers.
  ///
  /// - Parameter flaw: The flaw of the value; nil if it has none.
  @usableFromInline
  func settle(_ flaw: CacheEvent.Kind?) {
    let reports = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for report in reports { report(flaw) }
  }
}
