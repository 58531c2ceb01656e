import MillpondSignals
import Synchronization

/// A cache of closures: it carries out writes in order and one at a time, and refuses late ones.
///
/// The closures for writes are called only by the thread that has the mailbox's turn. Gets wait for
/// the writes that wait for that turn.
final class ClosureCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  private let order = Locked(WriteOrder<Key>())
  private let removals = RemovalsByPredicate<Key>()
  private let mailbox = Mailbox<Message>()

  /// The number of writes that wait for the turn, with those that the turn's thread has taken.
  private let waitingCount = AtomicValue<Int>(0)
  private let running = Locked(Registry<(key: Key, outcome: Signal<Void>)>())
  private let onGet: @Sendable (Key, Lookup) -> Signal<Value>
  private let onSet: (@Sendable (Value, Key) -> Signal<Void>)?
  private let onRemove: (@Sendable (Key) -> Signal<Void>)?
  private let onRemoveAll: (@Sendable () -> Signal<Void>)?
  private let onRemoveMatching: (@Sendable (@escaping @Sendable (Key) -> Bool) -> Signal<Void>)?

  private enum Message: Sendable {
    case write(Write)

    /// A removal that has been carried out, and has waited for the work of earlier sets of these
    /// keys.
    case repeatedRemoval(Write, of: Set<Key>, after: Signal<Void>)

    /// The failure of a fill, which leaves a value that is out of date.
    case outdated(Key, FillToken)

    /// A get that waits for the writes before it.
    case get(Promise<Void>)
  }

  private struct Write: Sendable {
    let change: Change<Key, Value>
    let promise: Promise<Void>
    let pending: PendingWrite?
  }

  init(
    get: @escaping @Sendable (Key, Lookup) -> Signal<Value>,
    set: (@Sendable (Value, Key) -> Signal<Void>)?,
    remove: (@Sendable (Key) -> Signal<Void>)?,
    removeAll: (@Sendable () -> Signal<Void>)?,
    removeMatching: (@Sendable (@escaping @Sendable (Key) -> Bool) -> Signal<Void>)?
  ) {
    onGet = get
    onSet = if let set { { set($0, $1).sendingSuccess } } else { nil }
    onRemove = if let remove { { remove($0).sendingSuccess } } else { nil }
    onRemoveAll = if let removeAll { { removeAll().sendingSuccess } } else { nil }
    onRemoveMatching =
      if let removeMatching { { removeMatching($0).sendingSuccess } } else { nil }
  }

  /// Whether there are no closures for writes.
  var isEmpty: Bool {
    onSet == nil && onRemove == nil && onRemoveAll == nil && onRemoveMatching == nil
  }

  /// Calls the closure once all writes that were called before have been carried out.
  ///
  /// Without that, a thread would miss what it has just written while another one has the turn.
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    .deferred { [self] in
      if waitingCount.load(ordering: .acquiring) == 0 { return onGet(key, lookup) }
      let (caller, promise) = (WorkContext.current, Promise<Void>())
      if mailbox.actQuietly(orPost: .get(promise), { true }) != nil { return onGet(key, lookup) }
      return promise.outcome.flatMap { [self] _ in onGet(key, lookup).inContext(of: caller) }
    }
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let promise = Promise<Void>()
    let mustDrain = mailbox.act(orPost: queued(change, promise)) {
      begin(change, promise) { pending(change, promise) }
    }
    if mustDrain { mailbox.drain(receive) }
    return promise.outcome
  }

  func topology(for key: Key?) -> Topology {
    Topology(.store, "AnyCache")
  }

  private func queued(_ change: Change<Key, Value>, _ promise: Promise<Void>) -> Message {
    waitingCount.add(1, ordering: .relaxed)
    return .write(pending(change, promise))
  }

  private func pending(_ change: Change<Key, Value>, _ promise: Promise<Void>) -> Write {
    Write(
      change: change.accepted, promise: promise, pending: change.revision.map { PendingWrite($0) })
  }

  private func receive(_ message: Message) {
    switch message {
    case .write(let write):
      let isOver = begin(write.change, write.promise) { write }
      waitingCount.subtract(1, ordering: .releasing)
      if isOver { write.pending?.end() }
    case .repeatedRemoval(let write, let keys, let first):
      let isRepeated = first.isDone || (write.change.key != nil && onRemove != nil)
      write.promise.keep(by: isRepeated ? removeAgain(write.change, of: keys) : first)
      write.pending?.end()
    case .outdated(let key, let token): removeUnreplaced(key, token)
    case .get(let promise):
      // Neither on the turn nor within a write of another thread, which may hold a user's lock.
      runInBackground { promise.keep(by: .just(())) }
    }
  }

  /// Carries out a write; a removal once more when the work of earlier sets has ended, which may
  /// have stored their values meanwhile, and then only of their keys.
  ///
  /// A removal that fails is not repeated, unless it is of one key: then only the repetition counts.
  ///
  /// - Returns: Whether the write is over, and will not be repeated.
  @discardableResult
  private func begin(
    _ change: Change<Key, Value>, _ promise: Promise<Void>, _ write: () -> Write
  ) -> Bool {
    let key = change.key
    let earlier =
      change.isOfValue
      ? [] : running.withLock { $0.elements.filter { key == nil || $0.key == key } }
    if earlier.isEmpty {
      promise.keep(by: carryOut(change))
      if change.isOfValue, !promise.outcome.isDone { track(change, promise.outcome) }
      return true
    }
    let first = WriteOutcome.all([carryOut(change)]).started()
    let (write, keys) = (write(), Set(earlier.map(\.key)))
    WriteOutcome.all(earlier.map(\.outcome) + [first]).subscribe { [write] event in
      guard event.isTerminal else { return }
      self.mailbox.post(.repeatedRemoval(write, of: keys, after: first), receive: self.receive)
    }
    return false
  }

  private func track(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    guard let key = change.key else { return }
    let number = running.withLock { $0.add((key, outcome)) }
    let forget = { @Sendable in self.running.discard { $0.remove(number) } }
    outcome.subscribe(onFailed: { _ in forget() }, onCompleted: forget)
  }

  /// Carries out a removal for the second time, of these keys only, as far as no later write has
  /// come: other keys may have been filled again since.
  ///
  /// Without a closure that could leave those, they go too.
  private func removeAgain(_ removal: Change<Key, Value>, of keys: Set<Key>) -> Signal<Void> {
    guard let revision = removal.revision else { return .just(()) }
    let isOld = isUnwritten(since: revision)
    let isOutdated = { @Sendable (key: Key) -> Bool in
      if case .removeMatching(let predicate, _) = removal, !predicate.isSatisfied(by: key) {
        return false
      }
      return isOld(key)
    }
    if let onRemove { return WriteOutcome.all(keys.filter(isOutdated).map(onRemove)) }
    if let onRemoveMatching { return onRemoveMatching { keys.contains($0) && isOutdated($0) } }
    return keys.contains(where: isOutdated) ? removeAll(revision) : .just(())
  }

  private func carryOut(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision):
      // The writes arrive one by one, so that no removal comes between.
      removals.compare(key, revision) != nil && admits { $0.admit(key, revision) }
        ? set(stamped.value, key) : .just(())
    case .remove(let key, let revision):
      admits { $0.admit(key, revision) } ? (onRemove?(key) ?? missing("remove")) : .just(())
    case .removeAll(let revision):
      removeAll(revision)
    case .removeMatching(let predicate, let revision):
      removeMatching(predicate, revision)
    case .fill(let key, let stamped, let token):
      fill(key, stamped.value, token)
    }
  }

  /// Without a closure for sets, the stored value goes, since it is out of date.
  private func set(_ value: Value, _ key: Key) -> Signal<Void> {
    onSet?(value, key) ?? onRemove?(key) ?? missing("set")
  }

  /// Removes everything that was written before; also what was written since, if there is no
  /// closure that could leave that.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    removals.forget(upTo: revision)
    guard admits({ $0.admitAll(revision) }) else { return .just(()) }
    if let onRemoveMatching, order.withLock({ $0.newest }) > revision {
      return onRemoveMatching(isUnwritten(since: revision))
    }
    return onRemoveAll?() ?? missing("removeAll")
  }

  private func removeMatching(
    _ predicate: KeyPredicate<Key>, _ revision: Revision
  ) -> Signal<Void> {
    guard let onRemoveMatching else { return missing("removeAll(where:)") }
    let place = removals.add(predicate, revision)
    order.withLock { $0.noteRemoval(revision, place) }
    let isOld = isUnwritten(since: revision)
    return onRemoveMatching { key in predicate.isSatisfied(by: key) && isOld(key) }
  }

  /// Returns a closure that tells whether no write of a key has come since `revision`.
  ///
  /// It does not retain the cache, since the code that removes may keep it.
  private func isUnwritten(since revision: Revision) -> @Sendable (Key) -> Bool {
    { [order] key in order.withLock { $0.lastWrite(of: key) } <= revision }
  }

  private func fill(_ key: Key, _ value: Value, _ token: FillToken) -> Signal<Void> {
    // Closures know no times, and a renewal must not store what has been removed.
    guard !token.isRenewal, let onSet, removals.compare(key, token) != nil,
      admits({ $0.admit(token, for: key) })
    else { return .empty }
    let outcome = onSet(value, key)
    if outcome.isDone { return outcome }
    let token = token.accepted
    return outcome.recover { error in
      self.mailbox.post(.outdated(key, token), receive: self.receive)
      return .fail(error)
    }.ignoreValues(as: Void.self).startWith(())
  }

  /// Removes the value that a fill should have replaced, unless a write came meanwhile.
  private func removeUnreplaced(_ key: Key, _ token: FillToken) {
    if let onRemove, admits({ $0.admit(token, for: key) }) { onRemove(key).subscribe() }
  }

  private func missing(_ closure: String) -> Signal<Void> {
    .fail(CacheError.unsupported(layer: "AnyCache", write: "\(closure) without a closure for it"))
  }

  private func admits(_ decide: (inout WriteOrder<Key>) -> Bool) -> Bool {
    let (isAdmitted, forgotten) = order.withLock { (decide(&$0), $0.takeForgotten()) }
    withExtendedLifetime(forgotten) {}  // released here, not under the lock
    return isAdmitted
  }
}

extension Change {
  /// Whether it stores a value.
  fileprivate var isOfValue: Bool {
    switch self {
    case .set, .fill: true
    case .remove, .removeAll, .removeMatching: false
    }
  }
}
