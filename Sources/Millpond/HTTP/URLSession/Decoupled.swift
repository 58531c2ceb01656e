import Dispatch
import MillpondSignals

extension Signal<HTTPPart> {
  /// Delivers on a queue of its own, so that a slow subscriber does not hold up what sends the parts.
  ///
  /// - Parameter waitingLimit: When more bytes than this wait for the subscriber, the sender waits until all
  ///   are delivered.
  func decoupled(waitingLimit: Int) -> Signal {
    Signal { observer, lifetime in
      let queue = PartQueue(observer, lifetime, waitingLimit: waitingLimit)
      run(queue.observer, lifetime)
    }
  }
}

private final class PartQueue: Sendable {
  private let downstream: Observer<HTTPPart>
  private let lifetime: Lifetime
  private let waitingLimit: Int
  private let queue = DispatchQueue(label: "millpond.http.parts", qos: .userInitiated)
  private let waiting = Locked(0)

  init(_ downstream: Observer<HTTPPart>, _ lifetime: Lifetime, waitingLimit: Int) {
    self.downstream = downstream
    self.lifetime = lifetime
    self.waitingLimit = waitingLimit
  }

  var observer: Observer<HTTPPart> {
    Observer(
      next: { part in self.add(part.byteCount) { self.downstream.next(part) } },
      other: { event in self.add(0) { self.downstream.other(event) } })
  }

  private func add(_ byteCount: Int, _ deliver: @escaping @Sendable () -> Void) {
    let isTooMuch = waiting.withLock { waiting in
      waiting += byteCount
      return waiting > waitingLimit
    }
    queue.async {
      if !self.lifetime.isEnded { deliver() }
      self.waiting.withLock { $0 -= byteCount }
    }
    if isTooMuch { queue.sync {} }
  }
}

extension HTTPPart {
  fileprivate var byteCount: Int {
    if case .body(let bytes) = self { bytes.count } else { 0 }
  }
}
