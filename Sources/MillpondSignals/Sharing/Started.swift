extension Signal {
  /// Runs this signal now, once, without a subscriber, and repeats its latest value and its end.
  ///
  /// The eager ``replayLast(_:resetsOnFailure:)`` with ``ReplayPolicy/keepRunning``: present and
  /// later subscribers receive the latest value and what follows, and the value stays when all have
  /// left. No subscriber that leaves cancels the run; limit it before, as by
  /// ``timeout(_:awaiting:clock:)``, if it might never end.
  ///
  ///     let settings = download(url).started(resetsOnFailure: true)
  ///
  /// - Parameter resetsOnFailure: Whether a run that fails is forgotten, so that the next
  ///   subscriber starts a new one. Otherwise the failure is repeated.
  /// - Note: A signal that answers at once has done so when this returns.
  @inlinable
  public func started(resetsOnFailure: Bool = false) -> Signal {
    if let now, let value = now() { return .just(value) }
    let replay = Replay(self, .keepRunning, resetsOnFailure ? .afterFailure : .never)
    replay.start()
    return replay.signal(emptyError)
  }
}
