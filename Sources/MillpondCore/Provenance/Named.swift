public import MillpondSignals

extension Source {
  /// Gives a layer a name, for diagrams, events, statistics and errors.
  ///
  /// It may be given to the layer itself or to policies around it; of several the outermost counts.
  /// A name around several layers is that of none of them, and in no error.
  ///
  /// - Parameter name: The name.
  /// - Complexity: Free without listeners, see ``CacheMonitor`` and
  ///   ``Source/lookUp(_:priority:freshness:deadline:clock:)``.
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

  init(base: Base, name: String) {
    self.base = base
    self.name = name
  }

  /// Returns the base's answer, and reports it to the listeners.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    guard lookup.isObservable else { return naming(base.get(key, lookup)) }
    return answers(key, lookup).values()
  }

  /// Returns the base's answer, and reports it to the listeners.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    base.layerAnswer(key, lookup, as: { name }, naming: { naming($0) })
  }

  /// Returns the base's immediate value, and reports it to the listeners.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.layerNow(key, lookup) { name }
  }

  /// Writes to the base, whose failures name this layer.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    return outcome.isDone ? outcome : naming(outcome)
  }

  /// Returns the signal, whose failures name this layer.
  @inlinable
  func naming<Element>(_ signal: Signal<Element>) -> Signal<Element> {
    // Memory has no failures of its own.
    if Base.self == MemoryCache<Key, Value>.self { return signal }
    return signal.mapFailure { named($0) }
  }

  @usableFromInline
  func named(_ error: any Error) -> any Error {
    guard let error = error as? CacheError, base.topology(for: nil).isOneLayer else { return error }
    return error.ofLayer(name)
  }

  /// The base with this name.
  public func topology(for key: Key?) -> Topology {
    base.topology(for: key).named(name)
  }
}

extension Named: Cache where Base: Cache {}
