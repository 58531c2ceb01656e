/// The entrance to a chain for concurrent senders: any thread may send, the downstream is called serially,
/// and one terminal event, the first, is let through; nothing once the lifetime has ended.
@usableFromInline
package final class Serializer<Value: Sendable>: @unchecked Sendable {
  // Sendable because `downstream` is touched only by whoever has the mailbox's turn, or in deinit.
  @usableFromInline let mailbox = Mailbox<Event<Value>>()
  @exclusivity(unchecked) @usableFromInline var downstream: Observer<Value>?
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let abandonment: SignalError?

  /// Serialises for `downstream`.
  ///
  /// - Parameters:
  ///   - lifetime: The downstream's; after its end nothing is delivered, whoever sends.
  ///   - abandonment: The failure to send when the observer is released before the end; nil where the
  ///     senders are operators, which end by contract.
  @inlinable
  package init(
    _ downstream: Observer<Value>, _ lifetime: Lifetime, abandonment: SignalError? = nil
  ) {
    self.downstream = downstream
    self.lifetime = lifetime
    self.abandonment = abandonment
  }

  deinit {
    if let downstream, let abandonment, !lifetime.isEnded { downstream.failed(abandonment) }
  }

  @inlinable
  package var observer: Observer<Value> {
    Observer(next: { self.send(.next($0)) }, other: { self.send($0.typed()) })
  }

  @inlinable
  package func send(_ event: Event<Value>) {
    if mailbox.take() {
      deliver(event)
    } else if !mailbox.enqueue(event, replaces: Self.replaces) {
      return
    }
    if !mailbox.passOn() { mailbox.drain { deliver($0) } }
  }

  @inlinable
  func deliver(_ event: Event<Value>) {
    if case .next(let value) = event {
      if !lifetime.isEnded { downstream?.onNext(value) }
    } else if let downstream {
      if event.isTerminal { self.downstream = nil }
      if !lifetime.isEnded { downstream.send(event) }
    }
  }

  /// Progress is conflated: of two that wait one after the other, the newer says it all.
  @inlinable
  static func replaces(_ last: Event<Value>, _ new: Event<Value>) -> Bool {
    if case .progress = last, case .progress = new { true } else { false }
  }
}
