extension Signal {
  /// Joins each value to the latest value of `other`; drops values before the first one of `other`.
  ///
  /// `other` is subscribed to first. Its completion changes nothing; its failure ends everything.
  /// Progress is that of this signal.
  ///
  /// - Note: A thread that sends a value of `other` delivers nothing.
  @inlinable
  public func withLatest<Other>(from other: Signal<Other>) -> Signal<(Value, Other)> {
    derived { observer, lifetime in
      let joining = MultipleInputs(observer, lifetime, WithLatestRule<Value, Other>())
      joining.run(other) {
        value in
        joining.note(.latest(value)) { $0?.replaceNewest(with: value) }
      } other: { event in
        if case .failed = event { joining.post(.other(event)) }
      }
      joining.run(self) {
        joining.post(.value($0))
      } other: {
        joining.post(.other($0))
      }
    }
  }
}

/// The newest value of the other signal.
@usableFromInline
@frozen
struct WithLatestRule<Value: Sendable, Other: Sendable>: MultipleInputsRule {
  @usableFromInline
  enum Message: Sendable {
    case value(Value)
    case latest(Other)
    case other(Event<Never>)
  }

  @usableFromInline var newest: Other?

  @inlinable
  init() {}

  /// Replaces the newest value, and returns the previous one.
  @inlinable
  mutating func replaceNewest(with new: Other) -> Other? {
    exchange(&newest, with: new)
  }

  @inlinable
  mutating func received(_ message: Message) -> Event<(Value, Other)>? {
    switch message {
    case .value(let value): return newest.map { .next((value, $0)) }
    case .latest(let new): newest = new
    case .other(let event): return event.typed()
    }
    return nil
  }
}
