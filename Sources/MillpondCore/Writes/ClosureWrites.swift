import MillpondSignals

/// A queue that carries out writes by closures, in order and one at a time, and refuses late ones.
///
/// The closures are called only by the thread that has the mailbox's turn.
final class ClosureWrites<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let order = Locked(WriteOrder<Key>())
  private let mailbox = Mailbox<Message>()
  private let set: @Sendable (Value, Key) -> Signal<Void>
  private let remove: @Sendable (Key) -> Signal<Void>
  private let removeAll: @Sendable () -> Signal<Void>

  private struct Message: Sendable {
    let change: Change<Key, Value>
    let promise: Promise<Void>
    let pending: PendingWrite?
  }

  init(
    set: @escaping @Sendable (Value, Key) -> Signal<Void>,
    remove: @escaping @Sendable (Key) -> Signal<Void>,
    removeAll: @escaping @Sendable () -> Signal<Void>
  ) {
    self.set = set
    self.remove = remove
    self.removeAll = removeAll
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
    case .set(let key, let value, let revision):
      admits { $0.admit(key, revision) } ? set(value, key) : .just(())
    case .remove(let key, let revision):
      admits { $0.admit(key, revision) } ? remove(key) : .just(())
    case .removeAll(let revision):
      admits { $0.admitAll(revision) } ? removeAll() : .just(())
    case .fill(let key, let stamped, let token):
      admits { $0.admit(token, for: key) }
        ? set(stamped.value, key).filter { _ in false }.startWith(()) : .empty
    }
  }

  private func admits(_ decide: (inout WriteOrder<Key>) -> Bool) -> Bool {
    let (isAdmitted, forgotten) = order.withLock { (decide(&$0), $0.takeForgotten()) }
    _ = forgotten  // released here, not under the lock
    return isAdmitted
  }
}
