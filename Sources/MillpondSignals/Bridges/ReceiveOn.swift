public import Dispatch

extension Signal {
  /// Delivers every event on `queue`, in order, one at a time.
  ///
  /// Progress is conflated: of several that wait in a row, the latest is delivered.
  ///
  /// - Parameters:
  ///   - queue: Serial or concurrent, deliveries never overlap.
  ///   - limit: How many events may wait; one more ends the signal with
  ///     ``SignalError/bufferFull(limit:)``, after those that wait.
  @inlinable
  public func receive(on queue: DispatchQueue, limit: Int = 65_536) -> Signal {
    Signal(
      start: { observer, lifetime in
        let outbox = Outbox(observer, lifetime, limit: limit) { drain in
          queue.async { drain() }
        }
        run(outbox.observer, outbox.lifetime)
      }, now: nil, emptyError: emptyError)
  }
}
