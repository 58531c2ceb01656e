/// Joins the first values of all signals, then the second ones, and so on, in the order given.
///
/// Completes as soon as one of them has completed and its values are used up; fails with the first
/// failure. Progress is the sum, its total known if each signal that runs knows its own. Of no
/// signals at all: completes.
///
/// - Complexity: Values that wait for their partners are kept.
@inlinable
public func zip<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.usingUp, repeat each signals)
}
