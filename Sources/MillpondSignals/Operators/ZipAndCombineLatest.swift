/// Runs all signals, and joins one value of each whenever all have one.
///
/// - Parameter use: The use of values that were joined.
@inlinable
func joining<each Value: Sendable>(
  _ use: CombinedUse, _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  var emptyError: (any Emptiness.Type)?
  for signal in repeat each signals { emptyError = emptyError ?? signal.emptyError }
  return Signal<(repeat each Value)>(
    start: { observer, lifetime in
      var count = 0
      let queues = (repeat CombinedQueue(of: each signals, use, &count))
      let inputs = ZipAndCombineLatest(count, use, lifetime, other: observer.onOther) {
        observer.next((repeat (each queues).take()))
      }
      for (queue, signal) in repeat (each queues, each signals) { inputs.feed(queue, from: signal) }
    }, now: nil, emptyError: emptyError)
}

/// Runs all signals, and joins one value of each into an array whenever all have one.
@inlinable
func joining<Value>(_ use: CombinedUse, all signals: [Signal<Value>]) -> Signal<[Value]> {
  if signals.isEmpty { return .just([]) }
  return Signal<[Value]>(
    start: { observer, lifetime in
      let queues = signals.indices.map { CombinedQueue<Value>($0, use) }
      let inputs = ZipAndCombineLatest(queues.count, use, lifetime, other: observer.onOther) {
        observer.next(queues.map { $0.take() })
      }
      for (queue, signal) in Swift.zip(queues, signals) { inputs.feed(queue, from: signal) }
    }, now: nil, emptyError: signals.lazy.compactMap { $0.emptyError }.first)
}

/// The inputs of a zip: `ZipAndCombineLatestRule` decides when to join their values, and this acts.
///
/// Little is generic here, because generic code would run unspecialised, see ``CombinedQueue``.
@usableFromInline
final class ZipAndCombineLatest: Sendable {
  private let lifetime: Lifetime
  private let other: @Sendable (Event<Never>) -> Void
  private let mailbox = Mailbox<CombinedMessage>()
  private let join: @Sendable () -> Void

  /// Touched only with the mailbox's turn.
  private let rule: SerialState<ZipAndCombineLatestRule>

  /// - Parameter join: Takes a value from each input, and sends them together.
  @usableFromInline
  init(
    _ count: Int, _ use: CombinedUse, _ subscriber: Lifetime,
    other: @escaping @Sendable (Event<Never>) -> Void, join: @escaping @Sendable () -> Void
  ) {
    rule = SerialState(ZipAndCombineLatestRule(inputs: count, use))
    lifetime = subscriber.child()
    self.other = other
    self.join = join
    if rule.value.isUsedUp { end(.completed) }
  }

  @usableFromInline
  func feed<Value>(_ queue: CombinedQueue<Value>, from signal: Signal<Value>) {
    if lifetime.isEnded { return }
    let (run, input) = (lifetime.child(), queue.input)
    signal.run(
      Observer(
        next: { self.receive($0, in: queue) },
        other: { event in
          if event.isTerminal { run.end() }
          self.post(.other(input, event))
        }), run)
  }

  private func receive<Value>(_ value: Value, in queue: CombinedQueue<Value>) {
    if mailbox.take() {
      if !lifetime.isEnded {
        queue.put(value)
        arrived(in: queue.input)
      }
    } else {
      let message = CombinedMessage.arrived(queue.input) { queue.put(value) }
      if !mailbox.enqueue(message, replaces: { _, _ in false }) { return }
    }
    if !mailbox.passOn() { mailbox.drain { receive($0) } }
  }

  private func post(_ message: CombinedMessage) {
    mailbox.post(message) { receive($0) }
  }

  private func receive(_ message: CombinedMessage) {
    if lifetime.isEnded { return }
    switch message {
    case .arrived(let input, let put):
      put()
      arrived(in: input)
    case .other(let input, .progress(let progress)):
      other(.progress(rule.value.sum(with: progress, of: input)))
    case .other(let input, .completed):
      rule.value.close(input)
      if rule.value.isUsedUp { end(.completed) }
    case .other(_, .failed(let error)): end(.failed(error))
    }
  }

  private func arrived(in input: Int) {
    guard rule.value.arrived(in: input) else { return }
    join()
    if rule.value.isUsedUp, !lifetime.isEnded { end(.completed) }
  }

  private func end(_ event: Event<Never>) {
    lifetime.end()
    other(event)
  }
}

enum CombinedMessage: Sendable {
  case arrived(Int, put: @Sendable () -> Void)
  case other(Int, Event<Never>)
}
