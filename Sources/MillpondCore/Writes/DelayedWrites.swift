public import MillpondSignals

/// The writes of a layer that take time to reach the layer below, and the gets that wait for them.
///
/// Writes do not wait for each other: the stores below order them by their revisions. A get waits
/// until the latest earlier write of its key has arrived below, but not for its outcome.
@usableFromInline
final class DelayedWrites<Key: Hashable & Sendable>: Sendable {
  /// The preparation of a write: sends the outcome of the layer below once the write has arrived
  /// there.
  @usableFromInline typealias Work = @Sendable () -> Signal<Signal<Void>>

  /// The writes of each key, in ascending order of their revisions.
  private let writes = Locked<[Key: [DelayedWrite]]>([:])

  @usableFromInline
  init() {}

  /// Whether a write of `key` has not arrived yet.
  @usableFromInline
  func isPending(_ key: Key) -> Bool {
    writes.withLock { $0[key] != nil }
  }

  /// Carries out a write of `key`; nothing waits for that of a key that does not equal itself.
  @usableFromInline
  func write(_ key: Key, _ revision: Revision, _ work: @escaping Work) -> Signal<Void> {
    let write = DelayedWrite(revision)
    // Such a key, for example a NaN, could never be found and removed again.
    if key == key { add(write, key) }
    return Signal { observer, lifetime in
      WorkContext.run(inNew: write.context) { work().run(observer, lifetime) }
    }
    .onNext { _ in self.arrived(write, key) }
    .onEnd { _ in self.failed(write, key) }
    .flatMap { $0 }
    .started()
  }

  private func add(_ write: DelayedWrite, _ key: Key) {
    writes.withLock { writes in
      let place = writes[key]?.firstIndex { $0.revision > write.revision }
      writes[key, default: []].insert(write, at: place ?? writes[key]?.count ?? 0)
    }
  }

  /// Ends the wait of gets for writes of `key` that are older than `revision`.
  @usableFromInline
  func overtake(_ key: Key, _ revision: Revision) {
    let over = remove(key) { $0.revision < revision }
    if over.isEmpty { return }
    // Gets must not go on within the call of the later write, whose caller may hold a lock.
    runInBackground { for write in over { write.end(hasArrived: true) } }
  }

  /// Ends the wait of gets for all writes that are older than `revision`.
  @usableFromInline
  func overtakeAll(_ revision: Revision) {
    for key in writes.withLock({ Array($0.keys) }) { overtake(key, revision) }
  }

  /// Ends the wait of gets for writes of keys that satisfy the predicate and are older than
  /// `revision`.
  @usableFromInline
  func overtake(_ predicate: KeyPredicate<Key>, _ revision: Revision) {
    for key in writes.withLock({ Array($0.keys) }) where predicate.isSatisfied(by: key) {
      overtake(key, revision)
    }
  }

  /// Completes with a value when every write that is under way now has arrived below, or has
  /// failed.
  func allArrived() -> Signal<Void> {
    WriteOutcome.all(
      writes.withLock { $0.values.flatMap { $0 } }.map { write in
        write.hasArrived.outcome.map { _ in () }.recover { _ in .just(()) }
      })
  }

  /// Runs `ask` after the latest write of `key` has arrived.
  ///
  /// Fails with ``CacheError/circular(key:)`` if that write waits for the caller.
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
    for pending: ArraySlice<DelayedWrite>, of key: Key, _ caller: WorkContext?,
    _ ask: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    guard let latest = pending.last else { return ask().inContext(of: caller) }
    return Signal { observer, lifetime in
      let waiting = lifetime.child()
      if let caller, !caller.wait(for: latest.context, until: waiting) {
        return observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
      }
      latest.hasArrived.outcome.flatMap { hasArrived in
        waiting.end()
        return self.wait(for: hasArrived ? [] : pending.dropLast(), of: key, caller, ask)
      }.run(observer, lifetime)
    }
  }

  /// Ends the wait for this write and for all earlier ones, which it has overtaken.
  private func arrived(_ write: DelayedWrite, _ key: Key) {
    write.endPreparation()
    for write in remove(key, { $0.revision <= write.revision }) { write.end(hasArrived: true) }
  }

  private func failed(_ write: DelayedWrite, _ key: Key) {
    write.endPreparation()
    remove(key) { $0 === write }.forEach { $0.end(hasArrived: false) }
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
    withExtendedLifetime(entry) {}  // released here, not under the lock
    return over
  }
}

/// A write that has not arrived yet, for which gets wait.
private final class DelayedWrite: Sendable {
  let pending: PendingWrite
  let hasArrived = Promise<Bool>()

  /// The context of the preparation, within that of the caller: a flight, for which gets wait.
  let context = NestedContext(isFlight: true, within: .current)

  var revision: Revision { pending.revision }

  init(_ revision: Revision) { pending = PendingWrite(revision) }

  /// Records that the preparation is over; what it has left running works for no caller.
  func endPreparation() {
    pending.end()
    context.end()
    context.leaveOuter()
  }

  func end(hasArrived: Bool) {
    self.hasArrived.keep(by: .just(hasArrived))
  }
}
