/// Joins the first values of all signals, then the second ones, and so on, in the order given.
///
/// Completes as soon as one signal has completed and its values are used up; fails with the first
/// failure. Progress is the sum; its total is known if each running signal knows its own. Without
/// any signals, completes at once.
///
/// - Complexity: Buffers the values that wait for their partners, without a bound.
@inlinable
public func zip<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.usingUp, repeat each signals)
}

/// Joins the first values of all signals into an array, then the second ones, and so on.
///
///     let all = zip(ids.map { profiles.get($0) })
///
/// The values are in the order of the signals. End, failure and progress follow the rules of the
/// `zip` of separate signals. An empty sequence sends the empty array and completes.
///
/// - Complexity: O(1) for each value, and O(*n*) for each array of *n* values. Buffers the values
///   that wait for their partners, without a bound. Constant stack for any number of signals.
@inlinable
public func zip<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  joining(.usingUp, all: Array(signals))
}
