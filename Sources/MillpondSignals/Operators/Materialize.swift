extension Signal {
  /// Sends values and the end as values, and then completes: it never fails.
  ///
  /// Progress passes as it is, and is not among the values.
  @inlinable
  public func materialize() -> Signal<Event<Value>> {
    derived { observer, lifetime in
      run(
        Observer(next: { observer.next(.next($0)) }) { event in
          guard event.isTerminal else { return observer.other(event) }
          observer.next(event.typed())
          if !lifetime.isEnded { observer.completed() }
        }, lifetime)
    }
  }
}

extension Event {
  /// The event for those who don't take values; nil for a value.
  @inlinable
  package var withoutValue: Event<Never>? {
    switch self {
    case .next: nil
    case .progress(let progress): .progress(progress)
    case .failed(let error): .failed(error)
    case .completed: .completed
    }
  }
}
