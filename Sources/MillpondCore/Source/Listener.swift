package import MillpondSignals

/// Hears what happens to a question on its way down.
@usableFromInline
package final class Listener: Sendable {
  let timeline: Timeline
  let hear: @Sendable (CacheEvent) -> Void

  package init(_ timeline: Timeline, _ hear: @escaping @Sendable (CacheEvent) -> Void) {
    self.timeline = timeline
    self.hear = hear
  }
}

/// The check of a layer's values by a codec above it: what could not be decoded is no hit.
@usableFromInline
final class ValueCheck: Sendable {
  private struct Report: Sendable {
    let run: @Sendable (CacheEvent.Kind?) -> Void
  }

  private let waiting = Locked<[Report]>([])

  @usableFromInline
  init() {}

  /// Calls `report` when a value has been checked, with what is wrong with it, or with nil.
  func wait(_ report: @escaping @Sendable (CacheEvent.Kind?) -> Void) {
    waiting.withLock { $0.append(Report(run: report)) }
  }

  /// Reports what the layers said of a value.
  ///
  /// - Parameter flaw: What is wrong with it; nil if nothing is.
  @usableFromInline
  func settle(_ flaw: CacheEvent.Kind?) {
    let reports = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for report in reports { report.run(flaw) }
  }
}
