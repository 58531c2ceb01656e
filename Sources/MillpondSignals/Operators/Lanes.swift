import Synchronization

/// Runs all signals, and joins a value of each whenever there is one.
///
/// - Parameter use: What becomes of values that were joined.
@inlinable
func joining<each Value: Sendable>(
  _ use: LaneUse, _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  var emptyError: (any Emptiness.Type)?
  for signal in repeat each signals { emptyError = emptyError ?? signal.emptyError }
  return Signal<(repeat each Value)>(
    start: { observer, lifetime in
      var count = 0
      let queues = (repeat LaneQueue(of: each signals, use, &count))
      let lanes = Lanes(count, use, lifetime, other: observer.onOther) {
        observer.next((repeat (each queues).take()))
      }
      for (queue, signal) in repeat (each queues, each signals) { lanes.feed(queue, from: signal) }
    }, now: nil, emptyError: emptyError)
}

// MARK: - What acts

/// Feeds the lanes and joins what is in them; `LanesRule` decides when, this acts.
///
/// As little as possible is generic here: it would run unspecialised, see ``LaneQueue``.
@usableFromInline
final class Lanes: @unchecked Sendable {
  // Sendable because `rule` is touched only by whoever has the mailbox's turn.
  private let lifetime: Lifetime
  private let other: @Sendable (Event<Never>) -> Void
  private let mailbox = Mailbox<LaneMessage>()
  private let join: @Sendable () -> Void
  @exclusivity(unchecked) private var rule: LanesRule

  /// - Parameter join: Takes a value from each lane, and sends them together.
  @usableFromInline
  init(
    _ count: Int, _ use: LaneUse, _ subscriber: Lifetime,
    other: @escaping @Sendable (Event<Never>) -> Void, join: @escaping @Sendable () -> Void
  ) {
    rule = LanesRule(lanes: count, use)
    lifetime = subscriber.child()
    self.other = other
    self.join = join
    if rule.isUsedUp { end(.completed) }
  }

  @usableFromInline
  func feed<Value>(_ queue: LaneQueue<Value>, from signal: Signal<Value>) {
    if lifetime.isEnded { return }
    let input = lifetime.child()
    let lane = queue.lane
    signal.run(
      Observer(
        next: { self.receive($0, in: queue) },
        other: { event in
          if event.isTerminal { input.end() }
          self.post(.other(lane, event))
        }), input)
  }

  private func receive<Value>(_ value: Value, in queue: LaneQueue<Value>) {
    if mailbox.take() {
      if !lifetime.isEnded {
        queue.put(value)
        arrived(in: queue.lane)
      }
    } else if !wait(for: .arrived(queue.lane) { queue.put(value) }) {
      return
    }
    passTurn()
  }

  private func post(_ message: LaneMessage) {
    mailbox.post(message) { receive($0) }
  }

  private func receive(_ message: LaneMessage) {
    if lifetime.isEnded { return }
    switch message {
    case .arrived(let lane, let put):
      put()
      arrived(in: lane)
    case .other(let lane, .progress(let progress)):
      other(.progress(rule.sum(with: progress, of: lane)))
    case .other(let lane, .completed):
      rule.close(lane)
      if rule.isUsedUp { end(.completed) }
    case .other(_, .failed(let error)): end(.failed(error))
    }
  }

  private func arrived(in lane: Int) {
    guard rule.arrived(in: lane) else { return }
    join()
    if rule.isUsedUp, !lifetime.isEnded { end(.completed) }
  }

  private func end(_ event: Event<Never>) {
    lifetime.end()
    other(event)
  }

  private func wait(for message: LaneMessage) -> Bool {
    mailbox.enqueue(message) { _, _ in false }
  }

  private func passTurn() {
    if !mailbox.passOn() { mailbox.drain { receive($0) } }
  }
}

enum LaneMessage: Sendable {
  case arrived(Int, put: @Sendable () -> Void)
  case other(Int, Event<Never>)
}
