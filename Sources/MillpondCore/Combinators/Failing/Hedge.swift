public import MillpondSignals

/// Two runs for one answer: `HedgeState` decides whose events pass, this acts.
@usableFromInline
final class Hedge<Value: Sendable>: Sendable {
  private let downstream: Serializer<Value>
  private let lifetime: Lifetime
  private let runs: (first: Lifetime, second: Lifetime)

  /// How long the timer is wanted.
  private let pause: Lifetime
  private let alternative: Signal<Value>
  private let state = Locked(HedgeState())

  @usableFromInline
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, _ alternative: Signal<Value>) {
    self.downstream = Serializer(downstream, lifetime)
    self.lifetime = lifetime
    runs = (lifetime.child(), lifetime.child())
    pause = lifetime.child()
    self.alternative = alternative
  }

  @usableFromInline
  func run(_ first: Signal<Value>, _ delay: Duration, _ timeline: Timeline) {
    first.run(observer(of: .first), runs.first)
    guard !lifetime.isEnded, state.withLock({ $0.isWaiting }) else { return }
    if delay <= .zero { return startSecond() }
    let timer = timeline.schedule(after: delay) { self.startSecond() }
    pause.onEnd { timer.dispose() }
  }

  private func startSecond() {
    guard !runs.second.isEnded, state.withLock({ $0.startSecond() }) else { return }
    pause.end()
    alternative.run(observer(of: .second), runs.second)
  }

  private func observer(of runner: HedgeState.Runner) -> Observer<Value> {
    Observer(next: { self.receive(.next($0), from: runner) }) { event in
      self.receive(event.typed(), from: runner)
    }
  }

  private func receive(_ event: Event<Value>, from runner: HedgeState.Runner) {
    switch state.withLock({ $0.received(event, from: runner) }) {
    case .drop: break
    case .wait: end(runner)
    case .ask:
      end(runner)
      startSecond()
    case .send(let event, let winner):
      if winner { end(runner.other) }
      if event.isTerminal { endBoth() }
      downstream.send(event)
    }
  }

  private func end(_ runner: HedgeState.Runner) {
    if runner == .first { return runs.first.end() }
    pause.end()
    runs.second.end()
  }

  private func endBoth() {
    end(.first)
    end(.second)
  }
}

/// Who runs, who has won, and what the last failure was.
struct HedgeState: Sendable {
  enum Runner: Sendable {
    case first, second

    var other: Runner {
      self == .first ? .second : .first
    }
  }

  enum Step<Value: Sendable> {
    case drop
    case wait
    case ask
    case send(Event<Value>, winner: Bool = false)
  }

  private var winner: Runner?
  private var hasStartedSecond = false
  private var ended: Set<Runner> = []
  private var failure: (any Error)?

  /// Whether nothing has come that would decide it.
  var isWaiting: Bool {
    winner == nil && !hasStartedSecond && ended.isEmpty
  }

  /// False if the second one runs already, or is not wanted any more.
  mutating func startSecond() -> Bool {
    if winner != nil || hasStartedSecond || (ended.contains(.first) && failure == nil) {
      return false
    }
    hasStartedSecond = true
    return true
  }

  mutating func received<Value>(_ event: Event<Value>, from runner: Runner) -> Step<Value> {
    if let winner { return runner == winner ? .send(event) : .drop }
    switch event {
    case .next:
      winner = runner
      return .send(event, winner: true)
    case .progress: return runner == .first || ended.contains(.first) ? .send(event) : .drop
    case .failed(let error):
      ended.insert(runner)
      if ended.count == 2 { return .send(event) }
      failure = error
      return hasStartedSecond ? .wait : .ask
    case .completed:
      ended.insert(runner)
      if ended.count == 1, hasStartedSecond { return .wait }
      return .send(failure.map { .failed($0) } ?? .completed)
    }
  }
}
