extension Signal {
  /// Shares one run among all who listen at the same time; nothing is repeated.
  ///
  /// The first subscriber starts the run, and who comes later gets what follows. When the last one
  /// leaves before the end, the run is disposed of. After the end, or that, the next subscriber
  /// starts a new one.
  @inlinable
  public func share() -> Signal {
    let sharing = Sharing(self)
    return Signal(start: { sharing.subscribe($0, $1) }, now: nil, emptyError: emptyError)
  }
}

/// The one run there is; `SharingState` decides who starts and who cancels one, this acts.
@usableFromInline
final class Sharing<Value: Sendable>: Sendable {
  @usableFromInline let upstream: Signal<Value>
  @usableFromInline let state = Locked(SharingState<Value>())

  @inlinable
  init(_ upstream: Signal<Value>) {
    self.upstream = upstream
  }

  @inlinable
  func subscribe(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let (run, isNew) = state.withLock { $0.enter(for: lifetime) }
    run.audience.attach(observer, lifetime)
    lifetime.onEnd { self.leave(run) }
    // Who subscribed may have left already.
    if isNew, !run.lifetime.isEnded { start(run) }
  }

  @inlinable
  func start(_ run: SharedRun<Value>) {
    upstream.run(
      Observer(next: { run.audience.next($0) }) { event in
        if event.isTerminal { self.end(run) }
        run.audience.other(event)
      }, run.lifetime)
  }

  /// Before the audience is told, so that who subscribes in its callback starts a new run.
  @inlinable
  func end(_ run: SharedRun<Value>) {
    let ended = state.withLock { $0.drop(run) }
    ended?.lifetime.end()
  }

  @inlinable
  func leave(_ run: SharedRun<Value>) {
    let cancelled = state.withLock { $0.leave(run) }
    cancelled?.lifetime.end()
  }
}

@usableFromInline
final class SharedRun<Value: Sendable>: Sendable {
  @usableFromInline let audience = Audience<Value>()
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ lifetime: Lifetime) {
    self.lifetime = lifetime
  }
}

/// Which run there is, and how many listen to it.
@usableFromInline
struct SharingState<Value: Sendable>: Sendable {
  @usableFromInline var run: SharedRun<Value>?
  @usableFromInline var subscribers = 0

  @inlinable
  init() {}

  @inlinable
  mutating func enter(for subscriber: Lifetime) -> (run: SharedRun<Value>, isNew: Bool) {
    if let run {
      subscribers += 1
      return (run, false)
    }
    let new = SharedRun<Value>(subscriber.separate())
    run = new
    subscribers = 1
    return (new, true)
  }

  /// The run, if it was the last subscriber who has left it.
  @inlinable
  mutating func leave(_ left: SharedRun<Value>) -> SharedRun<Value>? {
    guard run === left else { return nil }
    subscribers -= 1
    return subscribers == 0 ? drop(left) : nil
  }

  /// The run, if it was the one there is, so that it is released after the unlock.
  @inlinable
  mutating func drop(_ old: SharedRun<Value>) -> SharedRun<Value>? {
    guard run === old else { return nil }
    defer { run = nil }
    return run
  }
}
