public import MillpondSignals
public import Synchronization

/// An observer that reports and counts the events in the layers of the caches that it watches.
///
///     let monitor = CacheMonitor()
///     let pictures = memory.named("memory").layered(over: disk.named("disk")).monitored(by: monitor)
///     monitor.events.subscribe(onNext: { print($0) })
///     print(monitor.statistics["disk"]?.hitRatio ?? 0)
///
/// One monitor may watch several caches; layers with the same name are counted together.
///
/// A monitor that is active ``Activity/whileObserved`` costs a hit little until
/// its events have a subscriber, or the page of an inspector is open.
///
/// - Note: Any thread. Events are sent on the thread on which they happen, without a lock.
public final class CacheMonitor: Sendable {
  /// The times at which a monitor receives events.
  public enum Activity: Sendable, Hashable {
    /// Every event is counted.
    case always

    /// Events are counted while ``CacheMonitor/events`` has a subscriber; a get made before that
    /// may be missing.
    case whileObserved
  }

  private let pipe = PublishSubject<CacheEvent>()
  private let records = PublishSubject<GetRecord>()
  private let counts = Locked(LayerCounts())
  private let activity: Activity
  private let observers = Locked(ObserverCounts())

  @usableFromInline package let time: ExactTime

  /// The attention at present, for a get to test at the cost of a load.
  @usableFromInline let attention: AtomicValue<Attention>

  /// Creates a monitor with all counters at zero.
  ///
  /// - Parameters:
  ///   - activity: The times at which the monitor receives events.
  ///   - clock: The clock that measures the durations.
  public init(active activity: Activity = .always, clock: some Clock<Duration> = ContinuousClock())
  {
    self.activity = activity
    time = ExactTime(clock)
    attention = AtomicValue(ObserverCounts().attention(activity))
  }

  /// The events from now on.
  public var events: Signal<CacheEvent> {
    observed(pipe.signal, \.ofEvents)
  }

  /// The gets that end from now on, each with its events, and the writes that fail.
  package var gets: Signal<GetRecord> {
    observed(records.signal, \.ofGets)
  }

  private func observed<Value>(
    _ signal: Signal<Value>, _ count: any WritableKeyPath<ObserverCounts, Int> & Sendable
  ) -> Signal<Value> {
    Signal { [self] observer, lifetime in
      change { $0[keyPath: count] += 1 }
      lifetime.onEnd { [self] in change { $0[keyPath: count] -= 1 } }
      signal.run(observer, lifetime)
    }
  }

  private func change(_ change: (inout ObserverCounts) -> Void) {
    observers.withLock { observers in
      change(&observers)
      attention.store(observers.attention(activity), ordering: .relaxed)
    }
  }

  /// The statistics since the creation or the last reset, by the name of the layer.
  public var statistics: [String: CacheStatistics] {
    counts.withLock { $0 }.byLayer
  }

  /// Resets the statistics.
  public func reset() {
    counts.discard { counts in
      defer { counts = LayerCounts() }
      return counts
    }
  }
}

extension CacheMonitor: CacheEventListener {
  @usableFromInline package var isOfOneGet: Bool { false }

  @usableFromInline
  package func receive(_ event: CacheEvent) {
    if attention.load(ordering: .relaxed) == .none { return }
    counts.withLock { $0.count(event) }
    pipe.next(event)
  }
}

extension CacheMonitor {
  /// Sends the record of a get to the observers of gets.
  func receive(_ record: GetRecord) {
    records.next(record)
  }
}

/// The attention of a monitor to the gets of a composition.
@usableFromInline
enum Attention: UInt8, AtomicRepresentable, Sendable {
  /// Gets pass unseen.
  case none

  /// Events are counted and sent.
  case events

  /// Events are also collected for each get.
  case gets
}

/// The number of subscribers of a monitor.
private struct ObserverCounts: Sendable {
  var ofEvents = 0
  var ofGets = 0

  func attention(_ activity: CacheMonitor.Activity) -> Attention {
    if ofGets > 0 { return .gets }
    return ofEvents > 0 || activity == .always ? .events : .none
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
