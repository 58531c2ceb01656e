import MillpondSignals

/// A queue that carries out writes by closures, in order and one at a time, and refuses late ones.
///
/// The closures are called only by the thread that has the mailbox's turn. A write waits until the
/// work of earlier ones that concern its key has ended.
final class ClosureWrites<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let order = Locked(WriteOrder<Key>())
  private let removals = KeyRemovals<Key>()
  private let mailbox = Mailbox<Message>()
  private let running = Locked(RunningWrites<Key>())
  private let onSet: (@Sendable (Value, Key) -> Signal<Void>)?
  private let onRemove: (@Sendable (Key) -> Signal<Void>)?
  private let onRemoveAll: (@Sendable () -> Signal<Void>)?
  private let onRemoveMatching: (@Sendable (@escaping @Sendable (Key) -> Bool) -> Signal<Void>)?

  private struct Message: Sendable {
    let change: Change<Key, Value>
    let promise: Promise<Void>
    let pending: PendingWrite?

    /// Whether it has waited for earlier writes.
    var isReady = false
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
      waiting(change, promise),
      immediately: { begin(change, promise) { waiting(change, promise) } },
      receive: receive)
    return promise.outcome
  }

  private func waiting(_ change: Change<Key, Value>, _ promise: Promise<Void>) -> Message {
    Message(
      change: change.accepted, promise: promise, pending: change.revision.map { PendingWrite($0) })
  }

  private func receive(_ message: Message) {
    if message.isReady {
      message.promise.keep(by: carryOut(message.change))
      message.pending?.end()
    } else {
      begin(message.change, message.promise) { message }
    }
  }

  /// Carries out a write, or lets it wait for earlier ones; `message` is what waits.
  private func begin(
    _ change: Change<Key, Value>, _ promise: Promise<Void>, _ message: () -> Message
  ) {
    let earlier = running.withLock { $0.outcomes(before: change) }
    if earlier.isEmpty {
      promise.keep(by: carryOut(change))
      if !promise.outcome.isDone { track(change, promise.outcome) }
      return
    }
    track(change, promise.outcome)
    var message = message()
    message.isReady = true
    WriteOutcome.all(earlier.map { $0.recover { _ in .just(()) } }).subscribe(
      onCompleted: { [message] in
        self.mailbox.post(
          message, immediately: { self.receive(message) }, receive: self.receive)
      })
  }

  private func track(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    let (number, former) = running.withLock { $0.add(change, outcome) }
    withExtendedLifetime(former) {}  // released here, not under the lock
    let forget = { @Sendable in self.running.discard { $0.remove(change, number) } }
    outcome.subscribe(onFailed: { _ in forget() }, onCompleted: forget)
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

  /// Removes everything that was written before; also what was written since, if there is no
  /// closure that could leave that.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    removals.forget(upTo: revision)
    guard admits({ $0.admitAll(revision) }) else { return .just(()) }
    if let onRemoveMatching, order.withLock({ $0.newest }) > revision {
      return onRemoveMatching { [order] key in
        order.withLock { $0.lastWrite(of: key) } <= revision
      }
    }
    return onRemoveAll?() ?? missing("removeAll")
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

/// The outcomes of writes whose work has not ended, for those that have to wait for it.
private struct RunningWrites<Key: Hashable & Sendable>: Sendable {
  struct Write: Sendable {
    let number: Int
    let outcome: Signal<Void>
  }

  /// The latest write of each key since the latest removal of many.
  private var byKey: [Key: Write] = [:]
  private var removal: Write?
  private var lastNumber = 0

  /// Returns the outcomes for which a write has to wait.
  func outcomes<Value>(before change: Change<Key, Value>) -> [Signal<Void>] {
    if byKey.isEmpty, removal == nil { return [] }
    if let key = change.key { return (byKey[key] ?? removal).map { [$0.outcome] } ?? [] }
    return byKey.values.map(\.outcome) + (removal.map { [$0.outcome] } ?? [])
  }

  /// Adds a write; returns its number, and former ones for release.
  mutating func add<Value>(
    _ change: Change<Key, Value>, _ outcome: Signal<Void>
  ) -> (number: Int, former: ([Key: Write], Write?)) {
    lastNumber += 1
    let write = Write(number: lastNumber, outcome: outcome)
    if let key = change.key {
      return (lastNumber, ([:], byKey.updateValue(write, forKey: key)))
    }
    return (lastNumber, (exchange(&byKey, with: [:]), exchange(&removal, with: write)))
  }

  /// Removes a write that has ended, unless a later one has taken its place.
  mutating func remove<Value>(
    _ change: Change<Key, Value>, _ number: Int
  ) -> (entry: (Key, Write)?, removal: Write?) {
    guard let key = change.key else {
      return (nil, removal?.number == number ? exchange(&removal, with: nil) : nil)
    }
    guard let place = byKey.index(forKey: key), byKey.values[place].number == number else {
      return (nil, nil)
    }
    let entry = byKey.remove(at: place)
    return ((entry.key, entry.value), nil)
  }
}
