public import MillpondSignals
import Synchronization

/// The time in which a function has to answer.
@usableFromInline
struct AnswerLimit: Sendable {
  @usableFromInline let time: Duration?
  private let timers: SharedTimers

  /// Creates a limit; nil for none.
  @usableFromInline
  init(_ time: Duration?) {
    self.init(time, on: .continuous)
  }

  init(_ time: Duration?, on timers: SharedTimers) {
    self.time = time
    self.timers = timers
  }

  /// Returns an answer that fails, and whose work ends, if nothing has come of it in time.
  @inlinable
  func applied<Value>(
    to answer: Signal<Value>, _ key: some Hashable & Sendable
  ) -> Signal<Value> {
    guard let time else { return answer }
    return limited(answer, time) { String(withoutSecrets: key) }
  }

  @usableFromInline
  func limited<Value>(
    _ answer: Signal<Value>, _ time: Duration, _ key: @escaping @Sendable () -> String
  ) -> Signal<Value> {
    Signal { [timers] observer, lifetime in
      let (work, first) = (lifetime.child(), FirstToCome())
      let timer = timers.schedule(after: time) {
        guard first.isWon(by: .limit) else { return }
        work.end()
        if !lifetime.isEnded {
          observer.failed(SignalError.timedOut(after: time, key: key()))
        }
      }
      work.onEnd { timer.dispose() }
      answer.run(
        Observer(
          next: { if first.isWon(by: .answer) { observer.next($0) } },
          other: { event in
            guard first.isWon(by: .answer) else { return }
            if event.isTerminal { work.end() }
            observer.other(event)
          }), work)
    }
  }
}

/// The side that came first, an event of the answer or the end of its time; it excludes the other.
private final class FirstToCome: Sendable {
  enum Side: UInt8, AtomicRepresentable, Sendable {
    case none, answer, limit
  }

  private let winner = AtomicValue(Side.none)

  func isWon(by side: Side) -> Bool {
    let result = winner.compareExchange(
      expected: .none, desired: side, ordering: .acquiringAndReleasing)
    return result.exchanged || result.original == side
  }
}
