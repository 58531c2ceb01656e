public import Synchronization

extension Signal {
  /// Runs all `signals`; passes on the first that sends any event, and disposes of the others.
  ///
  /// Progress, a failure or the completion decides the race as well. The signals are started in
  /// order, and none after one that sends at once. An empty sequence completes at once.
  @inlinable
  public static func race(_ signals: some Sequence<Signal>) -> Signal {
    let signals = Array(signals)
    return Signal { observer, lifetime in
      if signals.isEmpty { return observer.completed() }
      let racing = Racing(observer, lifetime, runners: signals.count)
      for (number, signal) in signals.enumerated() { racing.run(signal, number) }
    }
  }
}

/// A race with one winner, which claims its number once and ends all other runs.
@usableFromInline
@_fixed_layout
final class Racing<Value: Sendable>: Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let runs: [Lifetime]
  @usableFromInline let winner = AtomicValue<Int>(-1)

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, runners: Int) {
    self.downstream = downstream
    runs = (0..<runners).map { _ in lifetime.child() }
  }

  @inlinable
  func run(_ signal: Signal<Value>, _ number: Int) {
    let run = runs[number]
    if run.isEnded { return }
    signal.run(
      Observer(next: { if self.wins(number) { self.downstream.next($0) } }) { event in
        guard self.wins(number) else { return }
        if event.isTerminal { run.end() }
        self.downstream.other(event)
      }, run)
  }

  @inlinable
  func wins(_ number: Int) -> Bool {
    let current = winner.load(ordering: .acquiring)
    if current >= 0 { return current == number }
    return !runs[number].isEnded && claims(number)
  }

  @inlinable
  func claims(_ number: Int) -> Bool {
    let isFirst = winner.compareExchange(
      expected: -1, desired: number, ordering: .acquiringAndReleasing
    ).exchanged
    guard isFirst else { return false }
    for (other, run) in runs.enumerated() where other != number { run.end() }
    return true
  }
}
