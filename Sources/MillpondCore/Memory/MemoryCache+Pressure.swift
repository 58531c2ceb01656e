public import MillpondSignals

extension MemoryCache {
  /// Removes values because memory is short: half of them for a warning, all when it is critical.
  ///
  /// Running gets are not affected.
  ///
  /// - Parameter pressure: The level of the shortage.
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  public func relieve(_ pressure: MemoryPressure) {
    shards.trim(to: pressure == .warning ? 0.5 : 0, .pressure)
  }

  /// Relieves this cache whenever `pressure` sends, for as long as the cache exists.
  ///
  ///     let images = MemoryCache<URL, Image>(countLimit: 500).onMemoryPressure(.ofSystem())
  ///
  /// To relieve another kind of cache, subscribe to `pressure` yourself.
  ///
  /// - Parameters:
  ///   - pressure: The signal of memory pressure, subscribed to at once. Its failure or completion
  ///     ends the relief.
  ///   - relieve: Relieves the cache; by default ``relieve(_:)``. Called with this cache, on the
  ///     thread that sends.
  /// - Returns: This cache.
  @discardableResult
  public func onMemoryPressure(
    _ pressure: Signal<MemoryPressure>,
    relieve: @escaping @Sendable (MemoryCache, MemoryPressure) -> Void = { $0.relieve($1) }
  ) -> MemoryCache {
    let subscription = pressure.subscribe(onNext: { [weak self] pressure in
      if let self { relieve(self, pressure) }
    })
    reliefs.insert(subscription)
    return self
  }
}
