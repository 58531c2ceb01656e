/// Joins the first values of all signals to an array, then the second ones, and so on.
///
/// The values are in the order of the signals, of which there may be any number. Ends, fails and
/// counts progress as the zip of separate signals does. Of no signals at all: completes.
///
/// - Complexity: Values that wait for their partners are kept.
@inlinable
public func zip<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  let signals = Array(signals)
  return Signal<[Value]>(
    start: { observer, lifetime in
      let queues = signals.indices.map { LaneQueue<Value>($0, .usingUp) }
      let lanes = Lanes(queues.count, .usingUp, lifetime, other: observer.onOther) {
        observer.next(queues.map { $0.take() })
      }
      for (queue, signal) in Swift.zip(queues, signals) { lanes.feed(queue, from: signal) }
    }, now: nil, emptyError: signals.lazy.compactMap { $0.emptyError }.first)
}
