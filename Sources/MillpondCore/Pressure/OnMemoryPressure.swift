public import MillpondSignals

extension Cache {
  /// Relieves this layer whenever `pressure` sends, for as long as the result or a copy of it lives.
  ///
  ///     let images = MemoryCache<URL, Image>(countLimit: 500).onMemoryPressure(.ofSystem())
  ///
  /// - Parameters:
  ///   - pressure: Is listened to from now on. Its failure or completion ends that.
  ///   - relieve: What to do about it; by default everything is removed. Is called on the thread that
  ///     sends, with this cache.
  @inlinable
  public func onMemoryPressure(
    _ pressure: Signal<MemoryPressure>,
    relieve: @escaping @Sendable (Self, MemoryPressure) -> Void = { cache, _ in cache.removeAll() }
  ) -> PressureRelieved<Self> {
    PressureRelieved(base: self, pressure: pressure, relieve: relieve)
  }
}

/// A cache that is relieved when memory is short.
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

  /// The base's answer.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  /// The base's answer.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup)
  }
}
