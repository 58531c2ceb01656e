extension Signal {
  /// Shares one run among its present subscribers, and repeats nothing.
  ///
  /// The first subscriber starts the run; a later one receives the events from then on. When the
  /// last one leaves before the end, the run is disposed of. After that, or after the end, the next
  /// subscriber starts a new run.
  @inlinable
  public func share() -> Signal {
    let sharing = Sharing(self)
    return Signal(start: { sharing.subscribe($0, $1) }, now: nil, emptyError: emptyError)
  }
}

/// The current run of a shared signal: `SharingState` decides which subscriber starts or cancels
/// it, and this acts.
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
    run.broadcaster.attach(observer, lifetime)
    lifetime.onEnd { self.leave(run) }
    // The first subscriber may have left already.
    if isNew, !run.lifetime.isEnded { start(run) }
  }

  @inlinable
  func start(_ run: SharedRun<Value>) {
    upstream.run(
      Observer(next: { run.broadcaster.next($0) }) { event in
        if event.isTerminal { self.end(run) }
        run.broadcaster.other(event)
      }, run.lifetime)
  }

  /// Drops the run before its subscribers receive the end, so that a subscription in a callback
  /// starts a new run.
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
  @usableFromInline let broadcaster = Broadcaster<Value>()
  @usableFromInline let lifetime: Lifetime

  @inlinable
  init(_ lifetime: Lifetime) {
    self.lifetime = lifetime
  }
}

/// The current run, and the number of its subscribers.
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
    let new = SharedRun<Value>(
      Lifetime(core: LifetimeCore(depth: subscriber.depthOfSeparate)))
    run = new
    subscribers = 1
    return (new, true)
  }

  /// Counts a departure; returns the run if its last subscriber has left.
  @inlinable
  mutating func leave(_ left: SharedRun<Value>) -> SharedRun<Value>? {
    guard run === left else { return nil }
    subscribers -= 1
    return subscribers == 0 ? drop(left) : nil
  }

  /// Drops the run if it is the current one, and returns it for release after the unlock.
  @inlinable
  mutating func drop(_ old: SharedRun<Value>) -> SharedRun<Value>? {
    guard run === old else { return nil }
    defer { run = nil }
    return run
  }
}
