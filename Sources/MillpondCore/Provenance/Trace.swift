import MillpondSignals

/// A recorder of the events of one get.
final class Trace: CacheEventListener {
  let time: ExactTime
  var isOfOneGet: Bool { true }

  private let limit: Int
  private let recorded = Locked<[CacheEvent]>([])

  /// Creates a recorder without events.
  ///
  /// - Parameters:
  ///   - time: The clock that times the layers.
  ///   - limit: The greatest number of events that are kept.
  init(_ time: ExactTime, limit: Int = .max) {
    self.time = time
    self.limit = limit
  }

  func receive(_ event: CacheEvent) {
    recorded.withLock { if $0.count < limit { $0.append(event) } }
  }

  /// The events, in order.
  var steps: [CacheEvent] {
    recorded.withLock { $0 }
  }
}
