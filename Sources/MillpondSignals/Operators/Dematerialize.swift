extension Signal {
  /// Sends the events that come as values: the opposite of ``materialize()``.
  ///
  /// The first of them that is terminal ends the signal, and the upstream is told to stop. The
  /// upstream's own progress and end pass, too.
  @inlinable
  public func dematerialize<Inner>() -> Signal<Inner> where Value == Event<Inner> {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { event in
          if event.isTerminal { upstream.end() }
          observer.send(event)
        }, upstream)
    }
  }
}
