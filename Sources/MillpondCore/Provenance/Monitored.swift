public import MillpondSignals
public import Synchronization

extension Source {
  /// Reports all gets made through the result to `monitor`, with the events of every layer below.
  ///
  /// Layers are distinguished by their names, see ``Source/named(_:)``; those without one by their
  /// titles. Gets made directly at a layer are not reported.
  ///
  /// - Parameter monitor: The monitor.
  public func monitored(by monitor: CacheMonitor) -> Monitored<Self> {
    Monitored(base: self, monitor: monitor)
  }
}

/// A source or cache whose gets are reported to a monitor.
public struct Monitored<Base: Source>: Wrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let monitoring: Monitoring<Base>

  @usableFromInline var title: String { "monitored" }

  @inlinable var base: Base { monitoring.base }

  init(base: Base, monitor: CacheMonitor) {
    monitoring = Monitoring(base, monitor, label: base.ownLabel)
  }

  /// Returns the base's answer, and reports it to the monitor.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { observer, lifetime in
      if monitoring.attention == .none {
        base.get(key, lookup).run(observer, lifetime)
      } else if monitoring.label == nil, monitoring.attention == .events {
        base.get(key, monitoring.of(lookup)).run(observer, lifetime)
      } else {
        answers(key, lookup).values().run(observer, lifetime)
      }
    }
  }

  /// Returns the base's answer, and reports it to the monitor.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    switch monitoring.attention {
    case .none: base.answers(key, lookup)
    case .events: answer(key, monitoring.of(lookup))
    case .gets: recorded(key, lookup)
    }
  }

  @inlinable
  func answer(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    guard monitoring.label != nil else { return base.answers(key, lookup) }
    return base.layerAnswer(key, lookup) { [monitoring] in monitoring.label }
  }

  /// Returns the base's immediate value, and reports it to the monitor.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    monitoring.attention == .none ? base.now(key, lookup) : observedNow(key, lookup)
  }

  // Not inlined, so that a hit that nobody observes costs a load more, and no reference count.
  @inlinable
  @inline(never)
  func observedNow(_ key: Key, _ lookup: Lookup) -> Value? {
    monitoring.attention == .gets
      ? recordedNow(key, lookup) : reportedNow(key, monitoring.of(lookup))
  }

  @inlinable
  func reportedNow(_ key: Key, _ lookup: Lookup) -> Value? {
    base.layerNow(key, lookup) { monitoring.label }
  }

  /// Writes to the base, and reports a failure to the monitor.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    if !outcome.isDone { reportFailure(of: outcome, change) }
    return outcome
  }

  /// The base, marked as monitored.
  public func topology(for key: Key?) -> Topology {
    Topology(
      .wrapper, title, parts: [base.topology(for: key)], isReported: true,
      monitor: monitoring.monitor)
  }

  @usableFromInline
  func reportFailure(of outcome: Signal<Void>, _ change: Change<Key, Value>) {
    outcome.subscribe(onFailed: { error in
      let layer =
        if case CacheError.partlyStored(_, let layer, _) = error { layer } else {
          base.layerLabel
        }
      monitoring.reportFailedWrite(error, layer: layer, key: change.key)
    })
  }
}

/// A composition with its monitor, behind one reference, so that a hit retains no more than without
/// a monitor.
@usableFromInline
final class Monitoring<Base: Source>: Sendable {
  @usableFromInline let base: Base
  @usableFromInline let monitor: CacheMonitor

  /// The default lookup with the listener, made once, so that a hit allocates nothing.
  @usableFromInline let usual: Lookup

  /// The label of the base, if it is a single nameless layer.
  @usableFromInline let label: String?

  @usableFromInline
  init(_ base: Base, _ monitor: CacheMonitor, label: String?) {
    self.base = base
    self.monitor = monitor
    usual = Lookup().reporting(by: monitor)
    self.label = label
  }

  @inlinable
  var attention: Attention {
    monitor.attention.load(ordering: .relaxed)
  }

  /// Returns a copy of the lookup with the monitor as a listener.
  @inlinable
  func of(_ lookup: Lookup) -> Lookup {
    lookup.isUsual ? usual.begun(at: lookup.beginning) : lookup.reporting(by: monitor)
  }
}

extension Monitoring {
  fileprivate func reportFailedWrite(
    _ error: any Error, layer: String, key: (any Hashable & Sendable)?
  ) {
    let event = CacheEvent(.writeFailed(error), layer: layer, key: key)
    monitor.receive(event)
    if attention == .gets {
      monitor.receive(GetRecord(key: key, steps: [event], end: .failed(error)))
    }
  }
}

extension Monitored: Cache where Base: Cache {}

extension Source {
  /// The label of a single nameless layer; nil for several layers, or one that reports by itself.
  @usableFromInline
  package var ownLabel: String? {
    let topology = topology(for: nil)
    return topology.isUnnamedLayer ? topology.label : nil
  }
}

extension Change {
  /// The key of the change, if it concerns a single key.
  var key: Key? {
    switch self {
    case .set(let key, _, _), .remove(let key, _), .fill(let key, _, _): key
    case .removeAll, .removeMatching: nil
    }
  }
}
