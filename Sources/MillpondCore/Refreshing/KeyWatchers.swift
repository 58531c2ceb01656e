import MillpondSignals

/// The watchers and the running fetches of keys, and the writes meanwhile.
final class KeyWatchers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var watches: [Key: Watch] = [:]
  }

  fileprivate struct Watch: Sendable {
    /// Nil before the first watcher.
    var subject: PublishSubject<KeyEvent<Value>>?
    var watcherCount = 0
    var fetchCount = 0

    /// A moment after the arrival of the last write or removal, or before the last answered reload;
    /// answers of older fetches are not shown.
    var lastWrite = Revision.none

    var isIdle: Bool { watcherCount == 0 && fetchCount == 0 }

    mutating func enter() -> PublishSubject<KeyEvent<Value>> {
      watcherCount += 1
      let present = subject ?? PublishSubject()
      subject = present
      return present
    }
  }

  /// Returns the events of a key, from the subscription on.
  func events(of key: Key) -> Signal<KeyEvent<Value>> {
    Signal { [self] observer, lifetime in
      let subject = state.withLock { $0.watches[key, default: Watch()].enter() }
      lifetime.onEnd { self.leave(key) { $0.watcherCount -= 1 } }
      subject.signal.run(observer, lifetime)
    }
  }

  private func leave(_ key: Key, _ uncount: (inout Watch) -> Void) {
    state.discard { $0.leave(key, uncount) }
  }

  /// Runs `fetch` as a fetch of the key, until its end or its disposal.
  ///
  /// - Parameter fetch: Makes the fetch, with the lifetime of its caller. It must take its token
  ///   inside, so that no write in between is missed.
  func counting<Element>(
    _ key: Key, _ fetch: @escaping @Sendable (Lifetime) -> Signal<Element>
  ) -> Signal<Element> {
    Signal { [self] observer, lifetime in
      let run = lifetime.child()
      state.withLock { $0.watches[key, default: Watch()].fetchCount += 1 }
      run.onEnd {
        self.leave(key) { $0.fetchCount -= 1 }
        self.send(.ended, of: key)
      }
      send(.begun, of: key)
      fetch(lifetime).run(
        Observer(next: { observer.next($0) }) { event in
          if event.isTerminal { run.end() }
          observer.other(event)
        }, run)
    }
  }

  /// Reports a fetch's value, which is shown unless the fetch is over, the key was written since it
  /// began, or a later reload has been answered; then what is stored is looked up, since the store
  /// may have admitted the value before.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - token: The token of the fetch.
  ///   - prepare: Runs before the report, if the value is shown.
  func sendFetched(
    _ value: Stamped<Value>, of key: Key, _ token: FillToken, after prepare: () -> Void
  ) {
    let (isLatest, subject) = state.withLock { $0.take(fetchOf: key, token) }
    if isLatest { prepare() }
    subject?.next(.fetched(isLatest ? value : nil, token.revision))
  }

  /// Returns the fetched value of an event, unless the key was written since the fetch began.
  ///
  /// Asked on arrival: the report of the write may have come first.
  func latest(_ event: KeyEvent<Value>, of key: Key) -> Stamped<Value>? {
    guard case .fetched(let value?, let revision) = event else { return nil }
    let lastWrite = state.withLock { $0.watches[key]?.lastWrite ?? .none }
    return revision > lastWrite ? value : nil
  }

  /// Reports a change, and once more when it ends later: a layer may store it, or fail to, only
  /// then.
  func send(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    switch change {
    case .set(let key, _, _): sendWritten(.set, of: [key])
    case .remove(let key, _): sendWritten(.removed, of: [key])
    case .removeAll: sendWritten(.removed, of: keys)
    case .removeMatching(let predicate, _):
      sendWritten(.removed, of: keys.filter { predicate.isSatisfied(by: $0) })
    case .fill(let key, _, _): send(.kept, of: key)
    }
    if !outcome.isDone { sendSettled(change.key, after: outcome) }
  }

  private var keys: [Key] {
    state.withLock { Array($0.watches.keys) }
  }

  /// Reports writes of keys.
  ///
  /// Like the store, it refuses the fetches that began before the write arrived there.
  private func sendWritten(_ event: KeyEvent<Value>, of keys: [Key]) {
    for key in keys {
      state.withLock { $0.subject(ofWritten: key) }?.next(event)
    }
  }

  /// Reports that a change has been stored, or has failed to be, when it ends.
  func sendSettled(_ key: Key?, after outcome: Signal<Void>) {
    outcome.subscribe { [self] event in
      if event.isTerminal { send(.settled, of: key) }
    }
  }

  /// Reports an event of a key, or of all watched keys if the key is nil.
  func send(_ event: KeyEvent<Value>, of key: Key?) {
    let subjects = state.withLock { state in
      guard let key else { return state.watches.values.compactMap(\.subject) }
      return state.watches[key]?.subject.map { [$0] } ?? []
    }
    for subject in subjects { subject.next(event) }
  }

  func isFetching(_ key: Key) -> Bool {
    state.withLock { ($0.watches[key]?.fetchCount ?? 0) > 0 }
  }
}

extension KeyWatchers.State {
  mutating func subject(ofWritten key: Key) -> PublishSubject<KeyEvent<Value>>? {
    guard !watches.isEmpty, let place = watches.index(forKey: key) else { return nil }
    watches.values[place].lastWrite = .present
    return watches.values[place].subject
  }

  mutating func take(
    fetchOf key: Key, _ token: FillToken
  ) -> (isLatest: Bool, subject: PublishSubject<KeyEvent<Value>>?) {
    guard let place = watches.index(forKey: key) else { return (false, nil) }
    let isLatest = !token.isEnded && token.revision > watches.values[place].lastWrite
    if isLatest, token.isReload { watches.values[place].lastWrite = token.revision.predecessor }
    return (isLatest, watches.values[place].subject)
  }

  /// Takes one from a count of the key; returns an entry that is to be released after the unlock.
  mutating func leave(
    _ key: Key, _ uncount: (inout KeyWatchers.Watch) -> Void
  ) -> (key: Key, value: KeyWatchers.Watch)? {
    guard let place = watches.index(forKey: key) else { return nil }
    uncount(&watches.values[place])
    return watches.values[place].isIdle ? watches.remove(at: place) : nil
  }
}

/// An event of a key, for its watchers.
enum KeyEvent<Value: Sendable>: Sendable {
  /// A fetch began.
  case begun

  /// A fetch ended, with or without a value.
  case ended

  /// A value was fetched; nil unless it may be shown, also if the store has refused it.
  case fetched(Stamped<Value>?, Revision)

  /// A value was found in the store, or filled in from outside.
  case kept

  /// A value was set.
  case set

  /// The value was removed.
  case removed

  /// A layer stored a change, or failed to, after the call returned.
  case settled

  /// A flush has repeated changes that had failed, perhaps removals.
  case flushed

  /// Whether the value that is shown may have changed.
  var isChange: Bool {
    switch self {
    case .begun, .ended: false
    case .fetched, .kept, .set, .removed, .settled, .flushed: true
    }
  }

  var isSettled: Bool { if case .settled = self { true } else { false } }
  var isRemoval: Bool { if case .removed = self { true } else { false } }

  /// Whether nothing is to be shown if nothing is stored now.
  var showsStoredOnly: Bool {
    switch self {
    case .set, .flushed: true
    case .begun, .ended, .fetched, .kept, .removed, .settled: false
    }
  }
}
