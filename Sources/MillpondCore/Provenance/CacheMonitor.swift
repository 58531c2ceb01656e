public import MillpondSignals

/// An observer that reports and counts the events in the layers of the caches that it watches.
///
///     let monitor = CacheMonitor()
///     let pictures = memory.named("memory").layered(over: disk.named("disk")).monitored(by: monitor)
///     monitor.events.subscribe(onNext: { print($0) })
///     print(monitor.statistics["disk"]?.hitRatio ?? 0)
///
/// One monitor may watch several caches; layers with the same name are counted together.
///
/// - Note: Any thread. Events are sent on the thread on which they happen, without a lock.
public final class CacheMonitor: Sendable {
  private let pipe = PublishSubject<CacheEvent>()
  private let counts = Locked(LayerCounts())

  @usableFromInline package let time: ExactTime

  /// Creates a monitor with all counters at zero.
  ///
  /// - Parameter clock: The clock that measures the durations.
  public init(clock: some Clock<Duration> = ContinuousClock()) {
    time = ExactTime(clock)
  }

  /// The events from now on.
  public var events: Signal<CacheEvent> {
    pipe.signal
  }

  /// The statistics since the creation or the last reset, by the name of the layer.
  public var statistics: [String: CacheStatistics] {
    counts.withLock { $0 }.byLayer
  }

  /// Resets the statistics.
  public func reset() {
    let former = counts.withLock { counts in
      defer { counts = LayerCounts() }
      return counts
    }
    _ = former  // released here, not under the lock
  }
}

extension CacheMonitor: CacheEventListener {
  @usableFromInline
  package func receive(_ event: CacheEvent) {
    counts.withLock { $0.count(event) }
    pipe.next(event)
  }
}

/// The statistics of each layer.
private struct LayerCounts: Sendable {
  /// The layers that reported first, found by comparing names: for so few that is quicker than
  /// hashing.
  private var first: [(layer: String, statistics: CacheStatistics)] = []
  private var others: [String: CacheStatistics] = [:]

  var byLayer: [String: CacheStatistics] {
    others.merging(first.map { ($0.layer, $0.statistics) }) { $1 }
  }

  mutating func count(_ event: CacheEvent) {
    for place in first.indices where first[place].layer == event.layer {
      return first[place].statistics.count(event)
    }
    if first.count < 8 {
      first.append((event.layer, CacheStatistics()))
      first[first.count - 1].statistics.count(event)
    } else {
      others[event.layer, default: CacheStatistics()].count(event)
    }
  }
}
