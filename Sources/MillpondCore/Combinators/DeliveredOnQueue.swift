public import Dispatch
public import MillpondSignals

extension Source {
  /// Delivers all answers on `queue`, immediate hits included; `dispatch` in Carlos.
  ///
  /// Writes are carried out at once, on the caller's thread. Apply this over
  /// ``Source/reusingInFlight(maxFlights:clock:)``: under it, late subscribers may be served on
  /// another thread.
  ///
  /// - Parameter queue: A serial or concurrent queue; deliveries of one get never overlap.
  @inlinable
  public func delivered(on queue: DispatchQueue) -> DeliveredOnQueue<Self> {
    DeliveredOnQueue(base: self, queue: queue)
  }
}

/// A source or cache whose answers are delivered on a queue.
public struct DeliveredOnQueue<Base: Source>: GetWrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let queue: DispatchQueue
  @usableFromInline var title: String { "delivered on \(queue.label)" }

  @inlinable
  init(base: Base, queue: DispatchQueue) {
    self.base = base
    self.queue = queue
  }

  /// Returns `nil`: an immediate answer would not be delivered on the queue.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    Signal { observer, lifetime in
      let asking = observer.inContext(of: WorkContext.current)
      Signal.deferred(ask).receive(on: queue).run(asking, lifetime)
    }
  }
}

extension DeliveredOnQueue: Cache where Base: Cache {}
