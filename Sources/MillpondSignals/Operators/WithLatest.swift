extension Signal {
  /// Joins each value to the latest one of `other`; those before its first one are dropped.
  ///
  /// `other` is subscribed to first. Its completion changes nothing, its failure ends everything,
  /// and progress is that of this signal.
  @inlinable
  public func withLatest<Other>(from other: Signal<Other>) -> Signal<(Value, Other)> {
    Signal<(Value, Other)> { observer, lifetime in
      let joining = LatestJoining(observer, lifetime.child())
      let otherLifetime = joining.lifetime.child()
      other.run(
        Observer(next: { joining.post(.latest($0)) }) { event in
          if event.isTerminal { otherLifetime.end() }
          if case .failed = event { joining.post(.other(event)) }
        }, otherLifetime)
      if joining.lifetime.isEnded { return }
      let main = joining.lifetime.child()
      run(
        Observer(next: { joining.post(.value($0)) }) { event in
          if event.isTerminal { main.end() }
          joining.post(.other(event))
        }, main)
    }
  }
}

/// Delivers the joined values.
@usableFromInline
final class LatestJoining<Value: Sendable, Other: Sendable>: @unchecked Sendable {
  // Sendable because `newest` is touched only by whoever has the mailbox's turn.
  @usableFromInline let downstream: Observer<(Value, Other)>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let mailbox = Mailbox<Message>()
  @exclusivity(unchecked) @usableFromInline var newest: Other?
  @exclusivity(unchecked) @usableFromInline var isOver = false

  @usableFromInline
  enum Message: Sendable {
    case value(Value)
    case latest(Other)
    case other(Event<Never>)
  }

  @inlinable
  init(_ downstream: Observer<(Value, Other)>, _ lifetime: Lifetime) {
    self.downstream = downstream
    self.lifetime = lifetime
  }

  @inlinable
  func post(_ message: Message) {
    mailbox.post(message) { receive($0) }
  }

  @inlinable
  func receive(_ message: Message) {
    if isOver { return }
    switch message {
    case .value(let value): if let newest { downstream.next((value, newest)) }
    case .latest(let new): newest = new
    case .other(let event):
      if event.isTerminal { end() }
      downstream.other(event)
    }
  }

  @inlinable
  func end() {
    isOver = true
    newest = nil
    lifetime.end()
  }
}
