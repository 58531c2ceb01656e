import MillpondSignals

/// The watchers of keys, and the number of running fetches of each key.
final class KeyWatchers<Key: Hashable & Sendable>: Sendable {
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var watches: [Key: Watch] = [:]
    var fetches: [Key: Int] = [:]
  }

  fileprivate struct Watch: Sendable {
    let subject = PublishSubject<KeyEvent>()
    var count = 0
  }

  /// Returns the events of a key, from the subscription on.
  func events(of key: Key) -> Signal<KeyEvent> {
    Signal { [self] observer, lifetime in
      let subject = state.withLock { state in
        state.watches[key, default: Watch()].count += 1
        return state.watches[key]?.subject
      }
      lifetime.onEnd { self.leave(key) }
      subject?.signal.run(observer, lifetime)
    }
  }

  private func leave(_ key: Key) {
    state.discard { $0.leave(key) }
  }

  private func send(_ event: KeyEvent, ofOne key: Key) {
    let (subject, gone) = state.withLock { state in
      let gone = state.count(key, event)
      return (state.watches.isEmpty ? nil : state.watches[key]?.subject, gone)
    }
    withExtendedLifetime(gone) {}  // released here, not under the lock
    subject?.next(event)
  }

  /// Reports a change, and once more when it ends later: a layer may store it, or fail to, only
  /// then.
  func send<Value>(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    if case .removeMatching(let predicate, _) = change {
      let watched = state.withLock { Array($0.watches.keys) }
      for key in watched where predicate.isSatisfied(by: key) { send(.removed, ofOne: key) }
    } else {
      send(KeyEvent(of: change), of: change.key)
    }
    if !outcome.isDone { sendSettled(change.key, after: outcome) }
  }

  /// Reports that a change has been stored, or has failed to be, when it ends.
  func sendSettled(_ key: Key?, after outcome: Signal<Void>) {
    outcome.subscribe { [self] event in
      if event.isTerminal { send(.settled, of: key) }
    }
  }

  /// Reports an event of a key, or of all watched keys if the key is nil.
  func send(_ event: KeyEvent, of key: Key?) {
    if let key { return send(event, ofOne: key) }
    for subject in state.withLock({ $0.watches.values.map(\.subject) }) { subject.next(event) }
  }

  func isFetching(_ key: Key) -> Bool {
    state.withLock { $0.fetches[key] != nil }
  }
}

extension KeyWatchers.State {
  /// Counts the fetches of a key; returns an entry that is to be released after the unlock.
  mutating func count(_ key: Key, _ event: KeyEvent) -> (key: Key, value: Int)? {
    switch event {
    case .begun: fetches[key, default: 0] += 1
    case .ended:
      guard let place = fetches.index(forKey: key) else { return nil }
      fetches.values[place] -= 1
      if fetches.values[place] == 0 { return fetches.remove(at: place) }
    case .fetched, .kept, .set, .removed, .settled: break
    }
    return nil
  }

  mutating func leave(_ key: Key) -> (key: Key, value: KeyWatchers.Watch)? {
    guard let place = watches.index(forKey: key) else { return nil }
    watches.values[place].count -= 1
    return watches.values[place].count == 0 ? watches.remove(at: place) : nil
  }
}

/// An event of a key, for its watchers.
enum KeyEvent: Sendable {
  /// A fetch began.
  case begun

  /// A fetch ended, with or without a value.
  case ended

  /// A fetched value was admitted by the store.
  case fetched

  /// A value was found in the store, or filled in from outside.
  case kept

  /// A value was set.
  case set

  /// The value was removed.
  case removed

  /// A layer stored a change, or failed to, after the call returned.
  case settled

  /// Whether the stored value may have changed.
  var isChange: Bool {
    switch self {
    case .begun, .ended: false
    case .fetched, .kept, .set, .removed, .settled: true
    }
  }

  /// Creates the event of a change.
  init(of change: Change<some Sendable, some Sendable>) {
    self =
      switch change {
      case .set: .set
      case .remove, .removeAll, .removeMatching: .removed
      case .fill: .kept
      }
  }
}
