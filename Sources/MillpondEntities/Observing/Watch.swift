public import MillpondSignals

/// One who observes a store, or waits for something from it.
///
/// What it is sent, by whichever thread, it gets serially and in order, and its first value inside
/// the subscription: it has the turn of its mailbox before anybody knows of it.
@usableFromInline
final class Watch<Element: Sendable>: Sendable {
  /// Nil stands for the first event, which is not known before it is this one's turn.
  @usableFromInline let mailbox = Mailbox<Event<Element>?>()
  @usableFromInline let observer: Observer<Element>

  /// Ends with the subscription, or before it, with the terminal event.
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ observer: Observer<Element>, _ subscriber: Lifetime) {
    self.observer = observer
    lifetime = subscriber.child()
  }

  /// Registers this by `enter`, and delivers what that returns before anything that is sent since.
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
