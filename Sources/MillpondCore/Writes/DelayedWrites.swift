public import MillpondSignals

/// The writes of a layer that need time before they arrive at what is below, and the gets that wait
/// for them.
///
/// Writes don't wait for each other: the stores below decide by their revisions which of them wins.
/// A get waits for the writes of its key that were called before it, until the latest of them has
/// arrived below; not for its outcome.
@usableFromInline
final class DelayedWrites<Key: Hashable & Sendable>: Sendable {
  /// A write while it is prepared: sends the outcome of what is below when it has arrived there.
  @usableFromInline typealias Work = @Sendable () -> Signal<Signal<Void>>

  /// In ascending order of their revisions.
  private let writes = Locked<[Key: [DelayedWrite]]>([:])

  @usableFromInline
  init() {}

  /// Whether a write of `key` is on its way.
  @usableFromInline
  func isPending(_ key: Key) -> Bool {
    writes.withLock { $0[key] != nil }
  }

  /// Carries out a write of `key`.
  @usableFromInline
  func write(_ key: Key, _ revision: Revision, _ work: @escaping Work) -> Signal<Void> {
    let write = DelayedWrite(revision)
    writes.withLock { writes in
      let place = writes[key]?.firstIndex { $0.revision > revision }
      writes[key, default: []].insert(write, at: place ?? writes[key]?.count ?? 0)
    }
    return Signal { observer, lifetime in
      write.run { work().run(observer, lifetime) }
    }
    .onNext { _ in self.arrived(write, key) }
    .onEnd { _ in self.failed(write, key) }
    .flatMap { $0 }
    .started()
  }

  /// Lets gets wait no more for writes of `key` that `revision` has overtaken.
  @usableFromInline
  func overtake(_ key: Key, _ revision: Revision) {
    finish(key) { $0.revision < revision }
  }

  /// Lets gets wait no more for writes that `revision` has overtaken.
  @usableFromInline
  func overtakeAll(_ revision: Revision) {
    for key in writes.withLock({ Array($0.keys) }) { overtake(key, revision) }
  }

  /// Completes with a value when every write that is on its way now has arrived below, or will not.
  func allArrived() -> Signal<Void> {
    let arrivals = writes.withLock { $0.values.flatMap { $0 } }.map {
      $0.hasArrived.outcome.settle()
    }
    return arrivals.isEmpty ? .just(()) : Signal.merge(arrivals).collect().map { _ in () }
  }

  /// Asks when the latest write of `key` has arrived.
  ///
  /// Fails with ``CacheError/circular(key:)`` if that waits for whoever asks.
  @usableFromInline
  func ask<Value>(
    _ key: Key, _ ask: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    Signal { observer, lifetime in
      let pending = self.writes.withLock { $0[key] ?? [] }
      self.wait(for: pending[...], of: key, WorkContext.current, ask).run(observer, lifetime)
    }
  }

  private func wait<Value>(
    for pending: ArraySlice<DelayedWrite>, of key: Key, _ asker: WorkContext?,
    _ ask: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    guard let latest = pending.last else { return ask().inContext(of: asker) }
    return Signal { observer, lifetime in
      let waiting = lifetime.child()
      if let asker, !asker.wait(for: latest.handle, until: waiting) {
        return observer.failed(CacheError.circular(key: "\(key)"))
      }
      latest.hasArrived.outcome.flatMap { hasArrived in
        waiting.end()
        return self.wait(for: hasArrived ? [] : pending.dropLast(), of: key, asker, ask)
      }.run(observer, lifetime)
    }
  }

  /// What was called before has been overtaken, though it may not have arrived.
  private func arrived(_ write: DelayedWrite, _ key: Key) {
    write.pending.end()
    finish(key) { $0.revision <= write.revision }
  }

  private func failed(_ write: DelayedWrite, _ key: Key) {
    write.pending.end()
    remove(key) { $0 === write }.forEach { $0.end(hasArrived: false) }
  }

  private func finish(_ key: Key, _ isOver: (DelayedWrite) -> Bool) {
    for write in remove(key, isOver) { write.end(hasArrived: true) }
  }

  private func remove(_ key: Key, _ isOver: (DelayedWrite) -> Bool) -> [DelayedWrite] {
    let (over, entry) = writes.withLock { writes -> ([DelayedWrite], (Key, [DelayedWrite])?) in
      guard let place = writes.index(forKey: key) else { return ([], nil) }
      let over = writes.values[place].filter(isOver)
      writes.values[place].removeAll(where: isOver)
      guard writes.values[place].isEmpty else { return (over, nil) }
      let entry = writes.remove(at: place)
      return (over, (entry.key, entry.value))
    }
    _ = entry  // released here, not under the lock
    return over
  }
}

/// A write on its way, for which gets wait.
private final class DelayedWrite: Sendable {
  let revision: Revision
  let pending: PendingWrite
  let hasArrived = Promise<Bool>()

  /// Which gets wait for it, and what it waits for itself.
  let handle = FlightHandle(.normal, FlightClock(ContinuousClock()))

  init(_ revision: Revision) {
    self.revision = revision
    pending = PendingWrite(revision)
  }

  /// Starts the work, which asks on the write's behalf, and on that of whoever writes.
  func run(_ start: () -> Void) {
    WorkContext.run(inNew: NestedContext(for: handle, within: .current), start)
  }

  func end(hasArrived: Bool) {
    self.hasArrived.keep(by: .just(hasArrived))
  }
}
