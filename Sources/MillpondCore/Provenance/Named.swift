public import MillpondSignals

extension Source {
  /// Gives a layer the name by which diagrams, events, statistics and errors call it.
  ///
  /// - Complexity: Free while nobody listens, see ``CacheMonitor`` and ``Source/lookUp(_:priority:freshness:deadline:clock:)``.
  @inlinable
  public func named(_ name: String) -> Named<Self> {
    Named(base: self, name: name)
  }
}

/// A source or cache with a name.
public struct Named<Base: Source>: Wrapper {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let name: String
  @usableFromInline var title: String { name }

  @inlinable
  init(base: Base, name: String) {
    self.base = base
    self.name = name
  }

  /// The base's answer, reported to those who listen.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    guard lookup.isObservable else { return base.get(key, lookup) }
    return getStamped(key, lookup).map { $0.value }
  }

  /// The base's answer, reported to those who listen.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    if lookup.isHeard { return base.reported(as: name, key, lookup) }
    guard lookup.isObservable else { return base.getStamped(key, lookup) }
    return base.reportedOnceHeard(key, lookup) { name }
  }

  /// What the base has at once, reported to those who listen.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    let value = base.now(key, lookup)
    if value != nil, lookup.isHeard { lookup.report(.hit(age: nil), layer: name, key: key) }
    return value
  }

  /// The base, by its name.
  public func layout(for key: Key?) -> Layout {
    base.layout(for: key).named(name)
  }
}

extension Named: Cache where Base: Cache {}
