import MillpondSignals

/// A queue that carries out writes by closures, in order and one at a time, and refuses late ones.
///
/// The closures are called only by the thread that has the mailbox's turn.
final class ClosureWrites<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let order = Locked(WriteOrder<Key>())
  private let removals = KeyRemovals<Key>()
  private let mailbox = Mailbox<Message>()
  private let onSet: (@Sendable (Value, Key) -> Signal<Void>)?
  private let onRemove: (@Sendable (Key) -> Signal<Void>)?
  private let onRemoveAll: (@Sendable () -> Signal<Void>)?
  private let onRemoveMatching: (@Sendable (@escaping @Sendable (Key) -> Bool) -> Signal<Void>)?

  private struct Message: Sendable {
    let change: Change<Key, Value>
    let promise: Promise<Void>
    let pending: PendingWrite?
  }

  init(
    set: (@Sendable (Value, Key) -> Signal<Void>)?,
    remove: (@Sendable (Key) -> Signal<Void>)?,
    removeAll: (@Sendable () -> Signal<Void>)?,
    removeMatching: (@Sendable (@escaping @Sendable (Key) -> Bool) -> Signal<Void>)?
  ) {
    onSet = set
    onRemove = remove
    onRemoveAll = removeAll
    onRemoveMatching = removeMatching
  }

  /// Whether there are no closures.
  var isEmpty: Bool {
    onSet == nil && onRemove == nil && onRemoveAll == nil && onRemoveMatching == nil
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let promise = Promise<Void>()
    mailbox.post(
      Message(
        change: change.accepted, promise: promise,
        pending: change.revision.map { PendingWrite($0) }),
      immediately: { promise.keep(by: carryOut(change)) },
      receive: { message in
        message.promise.keep(by: carryOut(message.change))
        message.pending?.end()
      })
    return promise.outcome
  }

  private func carryOut(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision):
      // The writes arrive one by one, so that no removal comes between.
      removals.compare(key, revision) != nil && admits { $0.admit(key, revision) }
        ? set(stamped.value, key) : .just(())
    case .remove(let key, let revision):
      admits { $0.admit(key, revision) } ? remove(key) : .just(())
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

  private func remove(_ key: Key) -> Signal<Void> {
    onRemove?(key) ?? missing("remove")
  }

  private func removeAll(_ revision: Revision) -> Signal<Void> {
    removals.forget(upTo: revision)
    return admits { $0.admitAll(revision) }
      ? onRemoveAll?() ?? missing("removeAll") : .just(())
  }

  private func removeMatching(
    _ predicate: KeyPredicate<Key>, _ revision: Revision
  ) -> Signal<Void> {
    guard let onRemoveMatching else { return missing("removeAll(where:)") }
    let mark = removals.add(predicate, revision)
    order.withLock { $0.note(mark) }
    return onRemoveMatching { [order] key in
      predicate.isSatisfied(by: key) && order.withLock { $0.lastWrite(of: key) } <= revision
    }
  }

  private func fill(_ key: Key, _ value: Value, _ token: FillToken) -> Signal<Void> {
    guard let onSet, removals.compare(key, token) != nil, admits({ $0.admit(token, for: key) })
    else { return .empty }
    return onSet(value, key).filter { _ in false }.startWith(())
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
