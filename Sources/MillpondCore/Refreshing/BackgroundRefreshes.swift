import MillpondSignals

/// The fetches that continue without a caller, each until a deadline or a write of its key.
final class BackgroundRefreshes<Key: Hashable & Sendable>: Sendable {
  private let scheduler: Scheduler
  private let timeLimit: Duration
  private let max: Int
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var byKey: [Key: HeldFetches] = [:]
    var count = 0
    var lastNumber = 0
  }

  fileprivate struct HeldFetch: Sendable {
    let number: Int
    let isReload: Bool
    let lifetime = Lifetime()
  }

  /// The held fetches of a key, by number; no more than one of them is no reload.
  fileprivate struct HeldFetches: Sendable {
    var byNumber: [Int: HeldFetch] = [:]
    var hasFetch = false

    var inOrder: [HeldFetch] { byNumber.values.sorted { $0.number < $1.number } }
  }

  init(_ scheduler: Scheduler, timeLimit: Duration, max: Int) {
    self.scheduler = scheduler
    self.timeLimit = timeLimit
    self.max = max
  }

  /// Runs `signal` so that it continues when its callers leave.
  ///
  /// Does nothing if `max` fetches are held already. Of the fetches of a key that are no reloads,
  /// only the first is held.
  func keepRunning<Value>(_ key: Key, isReload: Bool, _ signal: @autoclosure () -> Signal<Value>) {
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
    for fetch in state.withLock({ $0.removeAll(of: key) })?.fetches.inOrder ?? [] {
      fetch.lifetime.end()
    }
  }

  /// Stops holding any fetch.
  func releaseAll() {
    for fetches in state.withLock({ $0.removeAll() }).values {
      for fetch in fetches.inOrder { fetch.lifetime.end() }
    }
  }
}

extension BackgroundRefreshes.State {
  mutating func add(_ key: Key, _ isReload: Bool, max: Int) -> BackgroundRefreshes.HeldFetch? {
    if count >= max { return nil }
    if !isReload, byKey[key]?.hasFetch == true { return nil }
    count += 1
    lastNumber += 1
    let fetch = BackgroundRefreshes.HeldFetch(number: lastNumber, isReload: isReload)
    byKey[key, default: BackgroundRefreshes.HeldFetches()].byNumber[lastNumber] = fetch
    if !isReload { byKey[key]?.hasFetch = true }
    return fetch
  }

  /// Removes a fetch; returns it and its key, to be released after the unlock.
  mutating func remove(_ key: Key, _ number: Int) -> (
    key: Key, fetch: BackgroundRefreshes.HeldFetch
  )? {
    guard let place = byKey.index(forKey: key),
      let fetch = byKey.values[place].byNumber.removeValue(forKey: number)
    else { return nil }
    count -= 1
    if !fetch.isReload { byKey.values[place].hasFetch = false }
    let key = byKey.keys[place]
    if byKey.values[place].byNumber.isEmpty { byKey.remove(at: place) }
    return (key, fetch)
  }

  /// Removes all fetches of a key; returns them and the key, to be released after the unlock.
  mutating func removeAll(of key: Key) -> (key: Key, fetches: BackgroundRefreshes.HeldFetches)? {
    guard !byKey.isEmpty, let place = byKey.index(forKey: key) else { return nil }
    let (key, fetches) = byKey.remove(at: place)
    count -= fetches.byNumber.count
    return (key, fetches)
  }

  mutating func removeAll() -> [Key: BackgroundRefreshes.HeldFetches] {
    defer { (byKey, count) = ([:], 0) }
    return byKey
  }
}
