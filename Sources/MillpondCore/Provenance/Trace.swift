import MillpondSignals

/// A recorder of the events of one get.
final class Trace: CacheEventListener {
  let time: ExactTime

  /// Receives the events too.
  private let next: (any CacheEventListener)?

  private let limit: Int
  private let recorded = Locked<[CacheEvent]>([])

  /// Creates a recorder without events.
  ///
  /// - Parameters:
  ///   - time: The clock that times the layers.
  ///   - limit: The greatest number of events that are kept.
  ///   - next: Another listener, which receives all events.
  init(_ time: ExactTime, limit: Int = .max, next: (any CacheEventListener)? = nil) {
    self.time = time
    self.limit = limit
    self.next = next
  }

  func receive(_ event: CacheEvent) {
    recorded.withLock { if $0.count < limit { $0.append(event) } }
    next?.receive(event)
  }

  /// The events, in order.
  var steps: [CacheEvent] {
    recorded.withLock { $0 }
  }
}
