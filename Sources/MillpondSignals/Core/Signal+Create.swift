extension Signal {
  /// Sends `value` and completes.
  @inlinable
  public static func just(_ value: Value) -> Signal {
    Signal(start: nil, now: { value })
  }

  /// Completes without a value.
  @inlinable
  public static var empty: Signal {
    Signal { observer, _ in observer.completed() }
  }

  /// Fails with `error`.
  @inlinable
  public static func fail(_ error: any Error) -> Signal {
    Signal { observer, _ in observer.failed(error) }
  }
}

extension Signal {
  /// Makes a signal of code that sends to an observer, from any thread.
  ///
  ///     Signal<Data>.create { observer, lifetime in
  ///       let task = load { observer.next($0); observer.completed() }
  ///       lifetime.onEnd { task.cancel() }
  ///     }
  ///
  /// The observer serialises events of several threads, and drops events after the end or after
  /// disposal, so a callback API that cannot be cancelled may call it at any time. If the observer
  /// is released before the end, the signal fails with ``SignalError/abandoned(origin:)``.
  ///
  /// - Parameters:
  ///   - file: The file to name if the observer is abandoned.
  ///   - line: The line to name.
  ///   - start: Runs for each subscription; an error that it throws fails the signal.
  /// - Note: An event that is sent inside a callback of the same observer is queued until that
  ///   returns.
  @inlinable
  public static func create(
    file: StaticString = #fileID, line: UInt = #line,
    _ start: @escaping @Sendable (Observer<Value>, Lifetime) throws -> Void
  ) -> Signal {
    Signal { downstream, lifetime in
      let serializer = Serializer(
        downstream, lifetime, abandonment: .abandoned(origin: placeInCode(file, line)))
      let observer = serializer.observer
      do {
        try start(observer, lifetime)
      } catch {
        observer.failed(error)
      }
    }
  }
}

/// The place of a call in the user's code, in debug builds.
@inlinable
package func placeInCode(_ file: StaticString, _ line: UInt) -> String? {
  #if DEBUG
    "\(file):\(line)"
  #else
    nil
  #endif
}

/// The observer at the head of a chain, which admits concurrent senders.
///
/// Any thread may send; the downstream is called serially. Only the first terminal event passes,
/// and nothing after the lifetime has ended.
@usableFromInline
@_fixed_layout
package final class Serializer<Value: Sendable>: @unchecked Sendable {
  // Sendable because `downstream` is touched only with the mailbox's turn, or in deinit.
  @usableFromInline let mailbox = Mailbox<Event<Value>>()
  @exclusivity(unchecked) @usableFromInline var downstream: Observer<Value>?
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let abandonment: SignalError?

  /// Creates a serializer for `downstream`.
  ///
  /// - Parameters:
  ///   - downstream: Receives the events serially.
  ///   - lifetime: The downstream's lifetime; after its end nothing is delivered.
  ///   - abandonment: The failure to send when the observer is released before the end; nil if the
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
    // Written out: by `Mailbox.post`, a `flatMap` of settled signals takes a third more instructions.
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

  /// Conflates progress: of two waiting events in a row, the newer makes the older superfluous.
  @inlinable
  static func replaces(_ last: Event<Value>, _ new: Event<Value>) -> Bool {
    if case .progress = last, case .progress = new { true } else { false }
  }
}
