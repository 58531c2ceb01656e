/// Joins the first values of all signals to an array, then the second ones, and so on.
///
/// The values are in the order of the signals, of which there may be any number. Ends, fails and
/// counts progress as the zip of separate signals does. Of no signals at all: completes.
///
/// - Complexity: Values that wait for their partners are kept.
@inlinable
public func zip<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  let signals = Array(signals)
  return Signal<[Value]> { observer, lifetime in
    let lanes = signals.map { ZipLane(of: $0) }
    for (number, lane) in lanes.enumerated() { lane.number = number }
    let zipping = Zipping(lifetime.child(), lanes: lanes.count, other: observer.onOther) {
      observer.next(lanes.map { $0.pop() })
    }
    zipping.start()
    for (lane, signal) in Swift.zip(lanes, signals) { zipping.feed(lane, from: signal) }
  }
}
