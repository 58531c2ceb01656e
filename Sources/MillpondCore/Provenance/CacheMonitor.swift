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
  private let counts = Locked<[String: CacheStatistics]>([:])

  /// The listener that travels with a get; there is only one, so that a flight recognises it.
  @usableFromInline let listener: Listener

  /// Creates a monitor with all counters at zero.
  ///
  /// - Parameter clock: The clock that measures the durations.
  public init(clock: some Clock<Duration> = ContinuousClock()) {
    listener = Listener(Timeline(clock)) { [pipe, counts] event in
      counts.withLock { $0[event.layer, default: CacheStatistics()].count(event) }
      pipe.next(event)
    }
  }

  /// The events from now on.
  public var events: Signal<CacheEvent> {
    pipe.signal
  }

  /// The statistics since the creation or the last reset, by the name of the layer.
  public var statistics: [String: CacheStatistics] {
    counts.withLock { $0 }
  }

  /// Resets the statistics.
  public func reset() {
    let former = counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
    _ = former  // released here, not under the lock
  }
}
