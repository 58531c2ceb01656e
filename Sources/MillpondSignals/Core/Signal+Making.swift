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

  /// Sends nothing, ever, not even an end.
  @inlinable
  public static var never: Signal {
    Signal { _, _ in }
  }

  /// Makes the signal anew for each subscription.
  @inlinable
  public static func deferred(_ make: @escaping @Sendable () -> Signal) -> Signal {
    let parts = SignalParts(.deferred(make))
    return Signal(
      start: { observer, lifetime in
        if case .deferred(let make) = parts.kind { make().run(observer, lifetime) }
      }, now: nil, emptyError: nil, parts: parts)
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
  /// The observer serialises what several threads send, and lets nothing through after the end, nor
  /// after disposal: a callback API that can't be cancelled may call it whenever it likes. If the
  /// observer is released before the end, the signal fails with ``SignalError/abandoned(origin:)``.
  ///
  /// - Parameter start: Runs at each subscription; what it throws fails the signal.
  /// - Note: Sending from inside a callback of the same observer is queued until that returns.
  @inlinable
  public static func create(
    file: StaticString = #fileID, line: UInt = #line,
    _ start: @escaping @Sendable (Observer<Value>, Lifetime) throws -> Void
  ) -> Signal {
    Signal { downstream, lifetime in
      let serializer = Serializer(
        downstream, lifetime, abandonment: .abandoned(origin: Origin.describe(file, line)))
      let observer = serializer.observer
      do {
        try start(observer, lifetime)
      } catch {
        observer.failed(error)
      }
    }
  }
}

/// Where in the user's code something was made, in debug builds.
@usableFromInline
enum Origin {
  @inlinable
  static func describe(_ file: StaticString, _ line: UInt) -> String? {
    #if DEBUG
      "\(file):\(line)"
    #else
      nil
    #endif
  }
}

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
