public import Dispatch
public import MillpondSignals

extension Source {
  /// Delivers all answers on `queue`, also those that are there at once.
  ///
  /// Tellings are carried out at once, on the thread of the caller, as everywhere. Over
  /// ``Source/reusingInFlight(clock:)``: under it, nothing promises that who joins late is served there.
  ///
  /// - Parameter queue: Serial or concurrent, deliveries of one get never overlap.
  @inlinable
  public func delivered(on queue: DispatchQueue) -> Delivered<Self> {
    Delivered(base: self, queue: queue)
  }
}

/// A source or cache whose answers are delivered on a queue.
public struct Delivered<Base: Source>: Detour {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let queue: DispatchQueue
  @usableFromInline var title: String { "delivered on \(queue.label)" }

  @inlinable
  init(base: Base, queue: DispatchQueue) {
    self.base = base
    self.queue = queue
  }

  /// Nothing: it would not be delivered on the queue.
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

extension Delivered: Cache where Base: Cache {}
