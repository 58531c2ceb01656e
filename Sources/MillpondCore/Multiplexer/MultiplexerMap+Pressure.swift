public import MillpondSignals

extension MultiplexerMap {
  /// Removes values from memory because it is short: half of them for a warning, all when it is
  /// critical.
  ///
  /// The persistence keeps its values, and answers later gets; without one they are fetched anew.
  /// Running gets are not affected. Values that could not be saved are lost, so ``flush()`` first
  /// where that matters.
  ///
  /// - Parameter pressure: The level of the shortage.
  /// - Complexity: O(*n*), in steps between which other threads can take the locks.
  public func relieve(_ pressure: MemoryPressure) {
    memory.relieve(pressure)
  }

  /// Relieves this map whenever `pressure` sends, for as long as the map exists.
  ///
  ///     let users = MultiplexerMap(over: api).onMemoryPressure(.ofSystem())
  ///
  /// - Parameter pressure: The signal of memory pressure, subscribed to at once. Its failure or
  ///   completion ends the relief.
  /// - Returns: This map.
  @discardableResult
  public func onMemoryPressure(_ pressure: Signal<MemoryPressure>) -> MultiplexerMap {
    memory.onMemoryPressure(pressure)
    return self
  }
}
