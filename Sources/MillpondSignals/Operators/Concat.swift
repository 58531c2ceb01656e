extension Signal {
  /// Sends `value` before anything else.
  @inlinable
  public func startWith(_ value: Value) -> Signal {
    Signal { observer, lifetime in
      observer.next(value)
      if !lifetime.isEnded { run(observer, lifetime) }
    }
  }
}

extension Signal {
  /// Continues with `other` when this signal completes.
  ///
  /// Progress is that of the running signal. A failure ends everything, and `other` is not started.
  /// A recursion that ends in ``deferred(_:)`` is a loop:
  ///
  ///     func pages(from number: Int) -> Signal<Page> {
  ///       page(number).concat(.deferred { pages(from: number + 1) })
  ///     }
  ///
  /// - Complexity: O(1), even if either signal is itself a concatenation. Constant stack for any
  ///   number of signals.
  @inlinable
  public func concat(_ other: Signal) -> Signal {
    let parts = SignalParts(.concatenated, [concatenation, other.concatenation])
    return Signal(
      start: { observer, lifetime in Concatenating(observer, lifetime, parts).run() }, now: nil,
      emptyError: emptyError ?? other.emptyError, parts: parts)
  }

}

/// A runner of one part after the other; the last part runs in its place.
@usableFromInline
@frozen
struct Concatenating<Value: Sendable>: Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime

  /// Touched only by the thread that starts the next part, one at a time.
  @usableFromInline let parts: SerialState<ConcatAndMergeParts<Value>>

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, _ parts: SignalParts<Value>) {
    self.downstream = downstream
    self.lifetime = lifetime
    self.parts = SerialState(ConcatAndMergeParts(parts))
  }

  /// Runs the next part, and then, in a loop, further parts for as long as they complete at once.
  @inlinable
  func run() {
    while runNext() {}
  }

  /// Runs the next part; returns true if it has completed already, and another is to follow.
  @inlinable
  func runNext() -> Bool {
    if lifetime.isEnded { return false }
    guard let part = parts.value.next(until: lifetime) else {
      if !lifetime.isEnded { downstream.completed() }
      return false
    }
    if lifetime.isEnded { return false }
    if parts.value.isAtEnd {
      part.run(downstream, lifetime)
      return false
    }
    if let now = part.now, let value = now() {
      if !lifetime.isEnded { downstream.next(value) }
      return true
    }
    let run = InnerSubscription(of: self, in: lifetime)
    part.start?(run.observer(), run.lifetime)
    return run.isSecond()
  }
}

extension InnerSubscription {
  @inlinable
  func observer<Value>() -> Observer<Value> where Whole == Concatenating<Value> {
    Observer(next: whole.downstream.onNext) { event in
      if event.isTerminal {
        if self.lifetime.isEnded { return }
        self.lifetime.end()
      }
      if case .completed = event {
        if self.isSecond() { self.whole.run() }
      } else {
        self.whole.downstream.other(event)
      }
    }
  }
}
