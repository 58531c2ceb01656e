import Synchronization

/// The priority of work that several askers share: the highest of those present.
///
/// It changes while the work goes on, and whoever does the work may look at it at any time.
@usableFromInline
package final class FlightPriority: Sendable {
  private let level: Atomic<UInt8>

  @usableFromInline
  package init(_ priority: Priority) {
    level = Atomic(priority.rawValue)
  }

  @usableFromInline
  package var current: Priority {
    get { Priority(rawValue: level.load(ordering: .relaxed)) ?? .normal }
    set { level.store(newValue.rawValue, ordering: .relaxed) }
  }
}
