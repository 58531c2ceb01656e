public import MillpondSignals

/// The tellings of a layer that need time before they reach what is below: those of one key keep
/// their order, and gets of that key wait for them.
@usableFromInline
package final class PendingTellings<Key: Hashable & Sendable>: Sendable {
  private let lines = Locked(TellingLines<Key>())

  @usableFromInline
  package init() {}

  /// Whether a telling that concerns `key` is on its way.
  @usableFromInline
  package func isPending(_ key: Key) -> Bool {
    lines.withLock { $0.last(of: key) != nil }
  }

  /// Carries out a telling of `key`: now, or after those of the same key that are on their way.
  @usableFromInline
  package func tell(_ key: Key, _ work: @escaping @Sendable () -> Signal<Void>) -> Signal<Void> {
    let telling = lines.withLock { $0.append(of: key) { self.telling(work, after: $0) } }
    telling.outcome.start()
    return telling.outcome.signal
  }

  /// Carries out a telling of all keys: now, or after all that are on their way.
  @usableFromInline
  package func tellAll(_ work: @escaping @Sendable () -> Signal<Void>) -> Signal<Void> {
    let telling = lines.withLock { $0.appendToAll { self.telling(work, after: $0) } }
    telling.outcome.start()
    return telling.outcome.signal
  }

  /// Goes on with `next` when no telling of `key` is on its way any more.
  @usableFromInline
  package func wait<Value>(
    for key: Key, _ next: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    .deferred {
      guard let last = self.lines.withLock({ $0.last(of: key) }) else { return next() }
      return last.outcome.signal.compactMap { _ in nil }.ifNoValue { _ in next() }
    }
  }

  /// Makes a telling that begins when its predecessors have ended.
  ///
  /// Calls nothing yet.
  private func telling(
    _ work: @escaping @Sendable () -> Signal<Void>, after predecessors: [PendingTelling]
  ) -> PendingTelling {
    let number = Revision.next()
    var run = Signal.deferred(work)
    for predecessor in predecessors {
      let next = run
      run = predecessor.outcome.signal.filter { false }.ifNoValue { _ in next }
    }
    run = run.onEnd { _ in self.finish(number) }
    return PendingTelling(number: number, outcome: Replay(run, .keepRunning))
  }

  private func finish(_ number: Revision) {
    let finished = lines.withLock { $0.remove(number) }
    _ = finished  // released here, not under the lock
  }
}

/// A telling on its way.
struct PendingTelling: Sendable {
  let number: Revision
  let outcome: Replay<Void>
}

/// Who waits for whom.
struct TellingLines<Key: Hashable & Sendable>: Sendable {
  private var lasts: [Key: PendingTelling] = [:]
  private var keys: [Revision: Key] = [:]
  private var barrier: PendingTelling?

  func last(of key: Key) -> PendingTelling? {
    lasts[key] ?? barrier
  }

  /// Adds the telling that `make` makes of those it has to wait for.
  mutating func append(
    of key: Key, make: ([PendingTelling]) -> PendingTelling
  ) -> PendingTelling {
    let telling = make(last(of: key).map { [$0] } ?? [])
    if let old = lasts.updateValue(telling, forKey: key) { keys[old.number] = nil }
    keys[telling.number] = key
    return telling
  }

  /// Adds a telling that all keys wait for, made of those it has to wait for.
  mutating func appendToAll(make: ([PendingTelling]) -> PendingTelling) -> PendingTelling {
    let telling = make(Array(lasts.values) + (barrier.map { [$0] } ?? []))
    lasts = [:]
    keys = [:]
    barrier = telling
    return telling
  }

  /// Forgets a telling that has ended, and gives it back.
  mutating func remove(_ number: Revision) -> PendingTelling? {
    if let barrier, barrier.number == number {
      self.barrier = nil
      return barrier
    }
    return keys.removeValue(forKey: number).flatMap { lasts.removeValue(forKey: $0) }
  }
}
