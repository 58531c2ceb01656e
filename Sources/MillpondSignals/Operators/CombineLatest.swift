/// Joins the latest values of all signals whenever one of them sends, in the order given.
///
/// Sends nothing until each signal has sent a value. Completes when all have completed, or one has
/// without a value; fails with the first failure. Progress is the sum; its total is known if each
/// running signal knows its own. Without any signals, completes at once.
@inlinable
public func combineLatest<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.keepingLatest, repeat each signals)
}

/// Joins the latest values of all signals into an array whenever one of them sends.
///
///     let total = combineLatest(carts.map(\.total)).map { $0.reduce(0, +) }
///
/// The values are in the order of the signals. End, failure and progress follow the rules of the
/// `combineLatest` of separate signals. An empty sequence sends the empty array and completes.
///
/// - Complexity: O(*n*) for each array of *n* values, which is made anew for each value once every
///   signal has sent one. Constant stack for any number of signals.
@inlinable
public func combineLatest<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  joining(.keepingLatest, all: Array(signals))
}
