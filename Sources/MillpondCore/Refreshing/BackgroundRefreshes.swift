package import MillpondSignals

/// The fetches that continue without a caller, each until a deadline or a write of its key.
package final class BackgroundRefreshes<Key: Hashable & Sendable>: Sendable {
  private let scheduler: Scheduler
  private let timeLimit: Duration
  private let max: Int
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    /// The held fetches of each key, oldest first; no more than one of them is no reload.
    var byKey: [Key: [HeldFetch]] = [:]
    var count = 0
    var lastNumber = 0
  }

  fileprivate struct HeldFetch: Sendable {
    let number: Int
    let isReload: Bool
    let lifetime = Lifetime()
  }

  package init(_ scheduler: Scheduler, timeLimit: Duration, max: Int) {
    self.scheduler = scheduler
    self.timeLimit = timeLimit
    self.max = max
  }

  /// Runs `signal` so that it continues when its callers leave.
  ///
  /// Does nothing if `max` fetches are held already. Of the fetches of a key that are no reloads,
  /// only the first is held.
  package func keepRunning<Value>(
    _ key: Key, isReload: Bool, _ signal: @autoclosure () -> Signal<Value>
  ) {
    guard let fetch = state.withLock({ $0.add(key, isReload, max: max) }) else { return }
    let timer = scheduler.schedule(after: timeLimit) { [weak self] in self?.drop(key, fetch.number)
    }
    fetch.lifetime.onEnd { timer.dispose() }
    signal().run(
      Observer(next: { _ in }) { [weak self] event in
        if event.isTerminal { self?.drop(key, fetch.number) }
      }, fetch.lifetime)
  }

  private func drop(_ key: Key, _ number: Int) {
    state.withLock { $0.remove(key, number) }?.fetch.lifetime.end()
  }

  /// The keys of all held fetches.
  var keys: [Key] {
    state.withLock { Array($0.byKey.keys) }
  }

  /// Stops holding the fetches of the key.
  func release(_ key: Key) {
    for fetch in state.withLock({ $0.removeAll(of: key) })?.fetches ?? [] {
      fetch.lifetime.end()
    }
  }

  /// Stops holding any fetch.
  package func releaseAll() {
    for fetches in state.withLock({ $0.removeAll() }).values {
      for fetch in fetches { fetch.lifetime.end() }
    }
  }
}

extension BackgroundRefreshes.State {
  mutating func add(_ key: Key, _ isReload: Bool, max: Int) -> BackgroundRefreshes.HeldFetch? {
    if count >= max { return nil }
    if !isReload, byKey[key]?.contains(where: { !$0.isReload }) == true { return nil }
    count += 1
    lastNumber += 1
    let fetch = BackgroundRefreshes.HeldFetch(number: lastNumber, isReload: isReload)
    byKey[key, default: []].append(fetch)
    return fetch
  }

  /// Removes a fetch; returns it and its key, to be released after the unlock.
  mutating func remove(_ key: Key, _ number: Int) -> (
    key: Key, fetch: BackgroundRefreshes.HeldFetch
  )? {
    guard let place = byKey.index(forKey: key),
      let index = byKey.values[place].firstIndex(where: { $0.number == number })
    else { return nil }
    count -= 1
    let fetch = byKey.values[place].remove(at: index)
    let key = byKey.keys[place]
    if byKey.values[place].isEmpty { byKey.remove(at: place) }
    return (key, fetch)
  }

  /// Removes all fetches of a key; returns them and the key, to be released after the unlock.
  mutating func removeAll(of key: Key) -> (key: Key, fetches: [BackgroundRefreshes.HeldFetch])? {
    guard !byKey.isEmpty, let place = byKey.index(forKey: key) else { return nil }
    let (key, fetches) = byKey.remove(at: place)
    count -= fetches.count
    return (key, fetches)
  }

  mutating func removeAll() -> [Key: [BackgroundRefreshes.HeldFetch]] {
    defer { (byKey, count) = ([:], 0) }
    return byKey
  }
}
