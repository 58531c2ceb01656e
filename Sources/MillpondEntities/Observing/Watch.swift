import MillpondCore
public import MillpondSignals

/// A subscriber of a store.
///
/// It delivers events of any thread serially and in order, and its first value inside the
/// subscription: it has the turn of its mailbox before the store knows it.
@usableFromInline
@_fixed_layout
final class Watch<Element: Sendable>: Sendable {
  /// The mailbox, where nil stands for the first event, which is unknown until its turn.
  @usableFromInline let mailbox = Mailbox<Event<Element>?>()
  @usableFromInline let observer: Observer<Element>

  /// The lifetime, which ends with the subscription or at the terminal event.
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ observer: Observer<Element>, _ subscriber: Lifetime) {
    self.observer = observer
    lifetime = subscriber.child()
  }

  /// Registers this subscriber by `enter`, and delivers the result before any event sent since.
  @inlinable
  func open(_ enter: () -> Event<Element>) {
    mailbox.post(nil) { deliver($0 ?? enter()) }
  }

  @inlinable
  func post(_ event: Event<Element>) {
    if lifetime.isEnded { return }
    mailbox.post(event) { event in event.map { deliver($0) } }
  }

  @inlinable
  func deliver(_ event: Event<Element>) {
    if lifetime.isEnded { return }
    if event.isTerminal { lifetime.end() }
    observer.send(event)
  }
}
