public import MillpondSignals

extension Source {
  /// Gives a layer a name, for diagrams, events, statistics and errors.
  ///
  /// - Parameter name: The name.
  /// - Complexity: Free without listeners, see ``CacheMonitor`` and
  ///   ``Source/lookUp(_:priority:freshness:deadline:clock:)``.
  @inlinable
  public func named(_ name: String) -> Named<Self> {
    Named(base: self, name: name)
  }
}

/// A source or cache with a name.
public struct Named<Base: Source>: Wrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let name: String
  @usableFromInline var title: String { name }

  @inlinable
  init(base: Base, name: String) {
    self.base = base
    self.name = name
  }

  /// Returns the base's answer, and reports it to the listeners.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    guard lookup.isObservable else { return base.get(key, lookup) }
    return getStamped(key, lookup).unstamped()
  }

  /// Returns the base's answer, and reports it to the listeners.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.layerAnswer(key, lookup) { name }
  }

  /// Returns the base's immediate value, and reports it to the listeners.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.layerNow(key, lookup) { name }
  }

  /// The base with this name.
  public func topology(for key: Key?) -> Topology {
    base.topology(for: key).named(name)
  }
}

extension Named: Cache where Base: Cache {}
