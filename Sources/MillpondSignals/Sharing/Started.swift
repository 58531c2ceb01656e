extension Signal {
  /// Runs this now, once, whoever listens: a promise of its outcome.
  @inlinable
  package func started() -> Signal {
    if let now, let value = now() { return .just(value) }
    let replay = Replay(self, .keepRunning)
    replay.start()
    return replay.signal
  }
}
