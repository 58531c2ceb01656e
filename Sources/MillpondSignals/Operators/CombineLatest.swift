/// Joins the latest values of all signals, whenever one of them sends, in the order given.
///
/// Sends nothing until each has sent a value. Completes when all have completed, or one has without
/// a value; fails with the first failure. Progress is the sum, its total known if each signal that
/// runs knows its own. Of no signals at all: completes.
@inlinable
public func combineLatest<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.keepingLatest, repeat each signals)
}
