import MillpondSignals

/// The fetches that continue without a caller, each until a deadline or a write of its key.
final class BackgroundRefreshes<Key: Hashable & Sendable>: Sendable {
  private let scheduler: Scheduler
  private let patience: Duration
  private let max: Int
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var byKey: [Key: Holds] = [:]
    var count = 0
    var lastNumber = 0
  }

  fileprivate struct Hold: Sendable {
    let number: Int
    let isReload: Bool
    let lifetime = Lifetime()
  }

  /// The held fetches of a key, by number; no more than one of them is no reload.
  fileprivate struct Holds: Sendable {
    var byNumber: [Int: Hold] = [:]
    var hasFetch = false

    var inOrder: [Hold] { byNumber.values.sorted { $0.number < $1.number } }
  }

  init(_ scheduler: Scheduler, patience: Duration, max: Int) {
    self.scheduler = scheduler
    self.patience = patience
    self.max = max
  }

  /// Runs `signal` so that it continues when its callers leave.
  ///
  /// Does nothing if `max` fetches are held already. Of the fetches of a key that are no reloads,
  /// only the first is held.
  func hold<Value>(_ key: Key, isReload: Bool, _ signal: @autoclosure () -> Signal<Value>) {
    guard let hold = state.withLock({ $0.enter(key, isReload, max: max) }) else { return }
    let timer = scheduler.schedule(after: patience) { [weak self] in self?.drop(key, hold.number) }
    hold.lifetime.onEnd { timer.dispose() }
    signal().run(
      Observer(next: { _ in }) { [weak self] event in
        if event.isTerminal { self?.drop(key, hold.number) }
      }, hold.lifetime)
  }

  private func drop(_ key: Key, _ number: Int) {
    state.withLock { $0.leave(key, number) }?.hold.lifetime.end()
  }

  /// Stops holding the fetches of the key.
  func release(_ key: Key) {
    for hold in state.withLock({ $0.take(key) })?.holds.inOrder ?? [] { hold.lifetime.end() }
  }

  /// Stops holding any fetch.
  func releaseAll() {
    for holds in state.withLock({ $0.takeAll() }).values {
      for hold in holds.inOrder { hold.lifetime.end() }
    }
  }
}

extension BackgroundRefreshes.State {
  mutating func enter(_ key: Key, _ isReload: Bool, max: Int) -> BackgroundRefreshes.Hold? {
    if count >= max { return nil }
    if !isReload, byKey[key]?.hasFetch == true { return nil }
    count += 1
    lastNumber += 1
    let hold = BackgroundRefreshes.Hold(number: lastNumber, isReload: isReload)
    byKey[key, default: BackgroundRefreshes.Holds()].byNumber[lastNumber] = hold
    if !isReload { byKey[key]?.hasFetch = true }
    return hold
  }

  /// Removes a hold; returns it and its key, to be released after the unlock.
  mutating func leave(_ key: Key, _ number: Int) -> (key: Key, hold: BackgroundRefreshes.Hold)? {
    guard let place = byKey.index(forKey: key),
      let hold = byKey.values[place].byNumber.removeValue(forKey: number)
    else { return nil }
    count -= 1
    if !hold.isReload { byKey.values[place].hasFetch = false }
    let key = byKey.keys[place]
    if byKey.values[place].byNumber.isEmpty { byKey.remove(at: place) }
    return (key, hold)
  }

  /// Removes all holds of a key; returns them and the key, to be released after the unlock.
  mutating func take(_ key: Key) -> (key: Key, holds: BackgroundRefreshes.Holds)? {
    guard !byKey.isEmpty, let place = byKey.index(forKey: key) else { return nil }
    let (key, holds) = byKey.remove(at: place)
    count -= holds.byNumber.count
    return (key, holds)
  }

  mutating func takeAll() -> [Key: BackgroundRefreshes.Holds] {
    defer { (byKey, count) = ([:], 0) }
    return byKey
  }
}
