extension Signal {
  /// Passes on the newest value whenever `sampler` sends one, unless it was passed on already.
  ///
  /// The end of either signal is the last sample: a completion, of this signal or of the sampler,
  /// sends the waiting value and completes; a failure drops it and ends everything. Progress is
  /// that of this signal, which is subscribed to first.
  ///
  /// - Parameter sampler: Sends the ticks; its values themselves are ignored.
  /// - Note: A thread that sends a value of this signal delivers nothing.
  @inlinable
  public func sample(on sampler: Signal<some Sendable>) -> Signal {
    derived { observer, lifetime in
      let joining = MultipleInputs(observer, lifetime, SampleOnRule<Value>())
      joining.run(self) {
        value in
        joining.note(.value(value)) { $0?.replaceWaiting(with: value) }
      } other: { event in
        if case .completed = event { joining.post(.sample) }
        joining.post(.other(event))
      }
      joining.run(sampler) { _ in
        joining.post(.sample)
      } other: { event in
        if case .progress = event { return }
        if case .completed = event { joining.post(.sample) }
        joining.post(.other(event))
      }
    }
  }
}

/// The value that waits for the next sample.
@usableFromInline
@frozen
struct SampleOnRule<Value: Sendable>: MultipleInputsRule {
  @usableFromInline
  enum Message: Sendable {
    case value(Value)
    case sample
    case other(Event<Never>)
  }

  @usableFromInline var waiting: Value?

  @inlinable
  init() {}

  /// Replaces the waiting value, and returns the previous one.
  @inlinable
  mutating func replaceWaiting(with new: Value) -> Value? {
    exchange(&waiting, with: new)
  }

  @inlinable
  mutating func received(_ message: Message) -> Event<Value>? {
    switch message {
    case .value(let value): waiting = value
    case .other(let event): return event.typed()
    case .sample:
      defer { waiting = nil }
      return waiting.map { .next($0) }
    }
    return nil
  }
}
