extension Signal {
  /// Shares one run among all subscribers, and repeats its latest value to those who come late.
  ///
  /// The first subscriber starts the run. Who comes later gets the latest progress and value, and
  /// then what follows. After the end: the last value and the end, for ever.
  ///
  /// - Parameter policy: What becomes of a run whose last subscriber leaves before its end.
  @inlinable
  public func replayLast(_ policy: ReplayPolicy = .cancelWhenUnobserved) -> Signal {
    let replay = Replay(self, policy)
    return Signal(
      start: { replay.subscribe($0, $1) }, now: { replay.settledValue }, emptyError: emptyError)
  }
}
