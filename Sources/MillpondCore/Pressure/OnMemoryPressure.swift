public import MillpondSignals

extension Cache {
  /// Relieves this cache whenever `pressure` sends, while the result or a copy of it exists.
  ///
  ///     let images = MemoryCache<URL, Image>(countLimit: 500).onMemoryPressure(.ofSystem())
  ///
  /// - Parameters:
  ///   - pressure: The signal of memory pressure, subscribed to at once. Its failure or completion
  ///     ends the relief.
  ///   - relieve: Relieves the cache; by default removes everything. Called with this cache, on the
  ///     thread that sends.
  @inlinable
  public func onMemoryPressure(
    _ pressure: Signal<MemoryPressure>,
    relieve: @escaping @Sendable (Self, MemoryPressure) -> Void = { cache, _ in cache.removeAll() }
  ) -> PressureRelieved<Self> {
    PressureRelieved(base: self, pressure: pressure, relieve: relieve)
  }
}

/// A cache that is relieved under memory pressure.
public struct PressureRelieved<Base: Cache>: Wrapper, Cache {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let listening: ScopedDisposable
  @usableFromInline var title: String { "relieved under memory pressure" }

  @inlinable
  init(
    base: Base, pressure: Signal<MemoryPressure>,
    relieve: @escaping @Sendable (Base, MemoryPressure) -> Void
  ) {
    self.base = base
    listening = pressure.subscribe(onNext: { relieve(base, $0) }).scoped()
  }

  /// Returns the base's answer.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  /// Returns the base's answer.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup)
  }
}
