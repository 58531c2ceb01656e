extension Signal {
  /// Shares one run among its present subscribers, and repeats nothing.
  ///
  /// The first subscriber starts the run; a later one receives the events from then on. When the
  /// last one leaves before the end, the run is disposed of. After that, or after the end, the next
  /// subscriber starts a new run.
  @inlinable
  public func share() -> Signal {
    Replay(self, .cancelWhenUnobserved, .afterEnd).signal(emptyError)
  }
}
