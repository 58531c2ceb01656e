public import MillpondSignals

extension Source {
  /// Lets `monitor` hear what happens to the questions that are asked here, in every layer below.
  ///
  /// Layers are told apart by their names, see ``Source/named(_:)``; those without one go by what
  /// they are. Whoever asks a layer directly, not through this, is not heard.
  @inlinable
  public func monitored(by monitor: CacheMonitor) -> Monitored<Self> {
    Monitored(base: self, monitor: monitor)
  }
}

/// A source or cache whose questions are heard by a monitor.
public struct Monitored<Base: Source>: Wrapper, StampedSource {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let monitor: CacheMonitor

  @usableFromInline var title: String { "monitored" }

  /// The usual question, made once, so that a hit costs no allocation.
  @usableFromInline let usual: Lookup

  /// What the base goes by, if it is a single layer without a name.
  @usableFromInline let label: String?

  @inlinable
  init(base: Base, monitor: CacheMonitor) {
    self.base = base
    self.monitor = monitor
    usual = Lookup().heard(by: monitor.listener)
    label = base.ownLabel
  }

  /// The base's answer, heard by the monitor.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    label.map { base.reported(as: $0, key, heard(lookup)) } ?? base.getStamped(key, heard(lookup))
  }

  /// What the base has at once, heard by the monitor.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    let lookup = heard(lookup)
    let value = base.now(key, lookup)
    if value != nil, let label { lookup.report(.hit(age: nil), layer: label, key: key) }
    return value
  }

  /// Tells the base; the monitor hears if that fails.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    if !outcome.isDone { reportFailure(of: outcome, change) }
    return outcome
  }

  /// The base, and that it is monitored.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, title, parts: [base.layout(for: key)], isReported: true)
  }

  @inlinable
  func heard(_ lookup: Lookup) -> Lookup {
    lookup.isUsual ? usual : lookup.heard(by: monitor.listener)
  }

  @usableFromInline
  func reportFailure(of outcome: Signal<Void>, _ change: Change<Key, Value>) {
    outcome.subscribe(onFailed: { error in
      let layer =
        if case CacheError.partlyStored(let layer, _) = error { layer } else {
          base.layout(for: nil).label
        }
      usual.report(.tellingFailed(error), layer: layer, key: change.key)
    })
  }
}

extension Monitored: Cache where Base: Cache {}

extension Source {
  /// What this is called as one layer without a name; nil if it is more, or reports by itself.
  @usableFromInline
  var ownLabel: String? {
    let layout = layout(for: nil)
    return layout.isUnnamedLayer ? layout.label : nil
  }
}

extension Change {
  /// The key that is concerned, if it is one.
  var key: Key? {
    switch self {
    case .set(let key, _, _), .remove(let key, _), .fill(let key, _, _): key
    case .removeAll: nil
    }
  }
}
