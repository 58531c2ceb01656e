public import MillpondSignals
import Synchronization

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
    enter(PendingTelling(key: key, work))
  }

  /// Carries out a telling of all keys: now, or after all that are on their way.
  @usableFromInline
  package func tellAll(_ work: @escaping @Sendable () -> Signal<Void>) -> Signal<Void> {
    enter(PendingTelling(key: nil, work))
  }

  /// Goes on with `next` when no telling of `key` is on its way any more.
  @usableFromInline
  package func wait<Value>(
    for key: Key, _ next: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    .deferred {
      guard let last = self.lines.withLock({ $0.last(of: key) }) else { return next() }
      return last.promise.outcome.compactMap { _ in nil }.ifNoValue { _ in next() }
    }
  }

  /// Completes with a value when nothing that is on its way now is any more, however it ended.
  package func allDone() -> Signal<Void> {
    let outcomes = lines.withLock { $0.lastOnes }.map { $0.promise.outcome.settle() }
    return outcomes.isEmpty ? .just(()) : Signal.merge(outcomes).collect().map { _ in () }
  }

  private func enter(_ telling: PendingTelling<Key>) -> Signal<Void> {
    if lines.withLock({ $0.enter(telling) }) { run([telling]) }
    return telling.promise.outcome
  }

  /// Carries tellings out, and those that waited for them, in a loop while they end at once.
  private func run(_ first: [PendingTelling<Key>]) {
    var ready = first
    var next = 0
    while next < ready.count {
      let telling = ready[next]
      next += 1
      if telling.start({ self.run(self.followers(of: telling)) }) {
        ready += followers(of: telling)
      }
    }
  }

  private func followers(of telling: PendingTelling<Key>) -> [PendingTelling<Key>] {
    let (ready, finished) = lines.withLock { $0.leave(telling) }
    _ = finished  // released here, not under the lock
    return ready
  }
}

/// A telling on its way; without a key it concerns all.
final class PendingTelling<Key: Hashable & Sendable>: Sendable {
  let key: Key?
  let promise = Promise<Void>()
  private let work: Locked<(@Sendable () -> Signal<Void>)?>
  private let isMet = Atomic<Bool>(false)

  init(key: Key?, _ work: @escaping @Sendable () -> Signal<Void>) {
    self.key = key
    self.work = Locked(work)
  }

  /// Does the work, and lets go of it; true if it has ended at once.
  ///
  /// If it ends later, `onEnd` runs then.
  func start(_ onEnd: @escaping @Sendable () -> Void) -> Bool {
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    guard let work else { return false }
    promise.keep(by: work()) {
      if self.isSecond() { onEnd() }
    }
    return isSecond()
  }

  /// Called at the return of the start, and at the end; true for the one that comes second.
  private func isSecond() -> Bool {
    isMet.exchange(true, ordering: .acquiringAndReleasing)
  }
}

/// Who waits for whom.
///
/// A telling of all keys waits until every line is empty, and what comes after it waits behind it.
struct TellingLines<Key: Hashable & Sendable>: Sendable {
  typealias Telling = PendingTelling<Key>

  /// The first of each line is being carried out.
  private var lines: [Key: Queue<Telling>] = [:]
  private var barrier: Telling?
  private var behind: [Telling] = []

  /// The last telling that concerns the key.
  func last(of key: Key) -> Telling? {
    behind.last { $0.key == nil || $0.key == key } ?? barrier ?? lines[key]?.last
  }

  /// The last one of each line.
  var lastOnes: [Telling] {
    lines.values.compactMap(\.last) + (barrier.map { [$0] } ?? []) + behind
  }

  /// Whether the telling can be carried out now; else it waits.
  mutating func enter(_ telling: Telling) -> Bool {
    if barrier != nil {
      behind.append(telling)
      return false
    }
    guard let key = telling.key else {
      barrier = telling
      return lines.isEmpty
    }
    lines[key, default: Queue()].append(telling)
    return lines[key]?.count == 1
  }

  /// What can be carried out now that `telling` has ended, and what is to be released.
  mutating func leave(
    _ telling: Telling
  ) -> (ready: [Telling], finished: (key: Key, line: Queue<Telling>)?) {
    guard let key = telling.key else { return (passBarrier(), nil) }
    guard let place = lines.index(forKey: key) else { return ([], nil) }
    _ = lines.values[place].popFirst()
    if let next = lines.values[place].first { return ([next], nil) }
    let finished = lines.remove(at: place)
    guard lines.isEmpty, let barrier else { return ([], (finished.key, finished.value)) }
    return ([barrier], (finished.key, finished.value))
  }

  private mutating func passBarrier() -> [Telling] {
    let waiting = behind
    barrier = nil
    behind = []
    return waiting.filter { enter($0) }
  }
}
