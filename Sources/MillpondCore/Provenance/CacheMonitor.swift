public import MillpondSignals

/// Hears what happens in the layers of the caches that it watches, and counts it.
///
///     let monitor = CacheMonitor()
///     let pictures = memory.named("memory").layered(over: disk.named("disk")).monitored(by: monitor)
///     monitor.events.subscribe(onNext: { print($0) })
///     print(monitor.statistics["disk"]?.hitRatio ?? 0)
///
/// One monitor may watch several caches; layers of the same name are counted together.
///
/// - Note: Any thread. Events come on the thread on which they happened, with no lock held.
public final class CacheMonitor: Sendable {
  private let pipe = PublishSubject<CacheEvent>()
  private let counts = Locked<[String: CacheStatistics]>([:])

  /// What travels with a question: one for all, by which a flight knows who hears it already.
  @usableFromInline let listener: Listener

  /// A monitor that has heard nothing yet.
  ///
  /// - Parameter clock: By which layers are timed.
  public init(clock: some Clock<Duration> = ContinuousClock()) {
    listener = Listener(Timeline(clock)) { [pipe, counts] event in
      counts.withLock { $0[event.layer, default: CacheStatistics()].count(event) }
      pipe.next(event)
    }
  }

  /// What happens from now on, as it happens.
  public var events: Signal<CacheEvent> {
    pipe.signal
  }

  /// What has happened since the beginning, or since the last reset, by the name of the layer.
  public var statistics: [String: CacheStatistics] {
    counts.withLock { $0 }
  }

  /// Begins to count anew.
  public func reset() {
    let former = counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
    _ = former  // released here, not under the lock
  }
}
