public import MillpondSignals

extension Source {
  /// Asks `alternative` too if a get here fails, or has no answer after `delay`.
  ///
  /// The first value wins, and the other get is disposed of. If neither has a value, the get fails
  /// with the last failure, or is a miss if there was none. A miss of this source within the delay
  /// is final. Progress is this source's until it ends, then the alternative's. Values of the
  /// alternative are not stored here, and writes do not reach it.
  ///
  /// - Parameters:
  ///   - alternative: Another source of the same values: a mirror, or the same origin once more.
  ///   - delay: The time before the alternative is asked. Zero or less asks it right after this
  ///     source, unless that answers immediately.
  ///   - clock: The clock that measures `delay`.
  public func hedged<Alternative: Source<Key, Value>>(
    with alternative: Alternative, after delay: Duration,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Hedged<Self, Alternative> {
    Hedged(base: self, alternative: alternative, pause: (delay, Scheduler(clock)))
  }

  /// Asks `other` if a get here fails without a value; a miss does not count.
  ///
  /// If `other` fails too, the get fails with its failure; if `other` misses, with the first one. A
  /// failure after a value passes unchanged. Values of `other` are not stored here, and writes do
  /// not reach it.
  ///
  /// - Parameter other: The source to ask after a failure.
  public func recovering<Other: Source<Key, Value>>(with other: Other) -> Hedged<Self, Other> {
    Hedged(base: self, alternative: other, pause: nil)
  }
}

/// A source or cache with an alternative for failed gets, and perhaps for slow ones.
public struct Hedged<Base: Source, Alternative: Source>: Wrapper, AnsweringSource
where Base.Key == Alternative.Key, Base.Value == Alternative.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let alternative: Alternative

  /// The time before the alternative is asked; nil if only a failure counts.
  @usableFromInline let pause: (length: Duration, scheduler: Scheduler)?

  @usableFromInline var title: String {
    pause.map { "hedged after \($0.length.brief)" } ?? "recovering"
  }

  init(base: Base, alternative: Alternative, pause: (length: Duration, scheduler: Scheduler)?) {
    self.base = base
    self.alternative = alternative
    self.pause = pause
  }

  /// Returns the answer of the source that sends a value first.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    let first = base.layerAnswer(key, lookup)
    if alternative.isBeside(lookup.freshness) { return first }
    return .withCaller { caller in
      // Why one has no value does not win.
      let (reason, otherReason) = (Locked<Answer<Value>?>(nil), Locked<Answer<Value>?>(nil))
      let second = alternative.layerAnswer(key, lookup).found(noting: otherReason)
        .inContext(of: caller)
      return Signal { observer, lifetime in
        Hedge(observer, lifetime, second).run(first.found(noting: reason), pause)
      }
      .ifEmpty { reason.withLock { $0 }.map { .just($0) } ?? .empty }
    }
  }

  /// The base and the alternative.
  public func topology(for key: Key?) -> Topology {
    Topology(.layers, title, of: base.topology(for: key), alternative.topology(for: key))
  }
}

extension Hedged: Cache where Base: Cache {}

/// Two runs for one answer: `HedgeState` decides which events pass, this class acts on it.
@usableFromInline
final class Hedge<Value: Sendable>: Sendable {
  private let downstream: Serializer<Value>
  private let lifetime: Lifetime
  private let runs: (first: Lifetime, second: Lifetime)

  /// The lifetime of the timer.
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
  func run(_ first: Signal<Value>, _ limit: (length: Duration, scheduler: Scheduler)?) {
    first.run(observer(of: .first), runs.first)
    guard let limit, !lifetime.isEnded, state.withLock({ $0.isWaiting }) else { return }
    if limit.length <= .zero { return startSecond() }
    limit.scheduler.schedule(after: limit.length, during: pause) { self.startSecond() }
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

/// The runs that have started and ended, the winner, and the last failure.
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

  /// Whether no event has decided anything yet.
  var isWaiting: Bool {
    winner == nil && !hasStartedSecond && ended.isEmpty
  }

  /// Starts the second run; false if it runs already or is no longer wanted.
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
