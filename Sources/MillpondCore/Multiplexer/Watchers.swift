import MillpondSignals

/// The watchers of keys, and the number of running fetches of each key.
final class Watchers<Key: Hashable & Sendable>: Sendable {
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var watches: [Key: Watch] = [:]
    var fetches: [Key: Int] = [:]
  }

  fileprivate struct Watch: Sendable {
    let pipe = PublishSubject<KeyEvent>()
    var count = 0
  }

  /// Returns the events of a key, from the subscription on.
  func news(of key: Key) -> Signal<KeyEvent> {
    Signal { [self] observer, lifetime in
      let pipe = state.withLock { state in
        state.watches[key, default: Watch()].count += 1
        return state.watches[key]?.pipe
      }
      lifetime.onEnd { self.leave(key) }
      pipe?.signal.run(observer, lifetime)
    }
  }

  private func leave(_ key: Key) {
    let gone = state.withLock { $0.leave(key) }
    _ = gone  // released here, not under the lock
  }

  func tell(_ key: Key, _ news: KeyEvent) {
    let (pipe, gone) = state.withLock { state in
      let gone = state.count(key, news)
      return (state.watches.isEmpty ? nil : state.watches[key]?.pipe, gone)
    }
    _ = gone
    pipe?.next(news)
  }

  /// Reports a change, and once more when it ends later: a layer may store it, or fail to, only
  /// then.
  func tell<Value>(_ change: Change<Key, Value>, _ outcome: Signal<Void>) {
    tell(change.key, KeyEvent(of: change))
    if outcome.isDone { return }
    let key = change.key
    outcome.subscribe { [self] event in
      if event.isTerminal { tell(key, .settled) }
    }
  }

  /// Reports an event of a key.
  ///
  /// - Parameters:
  ///   - key: The key; nil for all keys.
  ///   - news: The event.
  func tell(_ key: Key?, _ news: KeyEvent) {
    if let key { return tell(key, news) }
    for pipe in state.withLock({ $0.watches.values.map(\.pipe) }) { pipe.next(news) }
  }

  func isFetching(_ key: Key) -> Bool {
    state.withLock { $0.fetches[key] != nil }
  }
}

extension Watchers.State {
  /// Counts the fetches of a key; returns an entry that is to be released after the unlock.
  mutating func count(_ key: Key, _ news: KeyEvent) -> (key: Key, value: Int)? {
    switch news {
    case .begun: fetches[key, default: 0] += 1
    case .ended:
      guard let place = fetches.index(forKey: key) else { return nil }
      fetches.values[place] -= 1
      if fetches.values[place] == 0 { return fetches.remove(at: place) }
    case .fetched, .kept, .set, .removed, .settled: break
    }
    return nil
  }

  mutating func leave(_ key: Key) -> (key: Key, value: Watchers.Watch)? {
    guard let place = watches.index(forKey: key) else { return nil }
    watches.values[place].count -= 1
    return watches.values[place].count == 0 ? watches.remove(at: place) : nil
  }
}
