import Dispatch
public import MillpondSignals
import Synchronization

/// One run of a ``CallbackSource``, which sends whatever it is told to, for as long as it is told to.
///
/// - Note: Any thread.
public final class CallbackRun<Value: Sendable>: Sendable {
  private let observer: Locked<Observer<Value>?>
  private let cancellation = Atomic(false)

  init(_ observer: Observer<Value>) {
    self.observer = Locked(observer)
  }

  /// Whether its subscription has ended, by disposal or by its end; it answers all the same.
  public var isCancelled: Bool {
    cancellation.load(ordering: .acquiring)
  }

  /// Sends an event, whatever was sent before.
  public func send(_ event: Event<Value>) {
    observer.withLock { $0 }?.send(event)
  }

  /// Sends each event on a thread of its own, all of them at once; returns when all were sent.
  ///
  /// Blocks the calling thread meanwhile.
  public func sendAtOnce(_ events: [Event<Value>]) {
    DispatchQueue.concurrentPerform(iterations: events.count) { send(events[$0]) }
  }

  /// Lets go of the observer, as an API does that forgets to call back: the run is abandoned.
  public func abandon() {
    let observer = observer.withLock { observer in
      defer { observer = nil }
      return observer
    }
    observer?.failed(SignalError.abandoned(origin: "a CallbackSource"))
  }

  func noteCancellation() {
    cancellation.store(true, ordering: .releasing)
  }
}
