import MillpondSignals

/// The fetches that go on though nobody may wait for them: until a deadline, or until what is kept is
/// told something else.
final class Holds<Key: Hashable & Sendable>: Sendable {
  private let timeline: Timeline
  private let patience: Duration
  private let max: Int
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var byKey: [Key: [Hold]] = [:]
    var count = 0
    var lastNumber = 0
  }

  fileprivate struct Hold: Sendable {
    let number: Int
    let isReload: Bool
    let lifetime = Lifetime()
  }

  init(_ timeline: Timeline, patience: Duration, max: Int) {
    self.timeline = timeline
    self.patience = patience
    self.max = max
  }

  /// Waits for what `signal` brings, in place of those who may leave; not if that many are held
  /// already, nor if this is no reload and the key is held.
  func hold<Value>(_ key: Key, isReload: Bool, _ signal: @autoclosure () -> Signal<Value>) {
    guard let hold = state.withLock({ $0.enter(key, isReload, max: max) }) else { return }
    let timer = timeline.schedule(after: patience) { [weak self] in self?.drop(key, hold.number) }
    hold.lifetime.onEnd { timer.dispose() }
    signal().run(
      Observer(next: { _ in }) { [weak self] event in
        if event.isTerminal { self?.drop(key, hold.number) }
      }, hold.lifetime)
  }

  private func drop(_ key: Key, _ number: Int) {
    state.withLock { $0.leave(key, number) }?.hold.lifetime.end()
  }

  /// Waits for nothing of the key any more.
  func release(_ key: Key) {
    for hold in state.withLock({ $0.take(key) })?.holds ?? [] { hold.lifetime.end() }
  }

  /// Waits for nothing any more.
  func releaseAll() {
    for hold in state.withLock({ $0.takeAll() }).values.joined() { hold.lifetime.end() }
  }
}

extension Holds.State {
  mutating func enter(_ key: Key, _ isReload: Bool, max: Int) -> Holds.Hold? {
    if count >= max { return nil }
    if !isReload, byKey[key]?.contains(where: { !$0.isReload }) ?? false { return nil }
    count += 1
    lastNumber += 1
    let hold = Holds.Hold(number: lastNumber, isReload: isReload)
    byKey[key, default: []].append(hold)
    return hold
  }

  /// What is to be released comes with it, the key included.
  mutating func leave(_ key: Key, _ number: Int) -> (key: Key, hold: Holds.Hold)? {
    guard let place = byKey.index(forKey: key),
      let index = byKey.values[place].firstIndex(where: { $0.number == number })
    else { return nil }
    count -= 1
    let (hold, key) = (byKey.values[place].remove(at: index), byKey.keys[place])
    if byKey.values[place].isEmpty { byKey.remove(at: place) }
    return (key, hold)
  }

  /// As when one leaves.
  mutating func take(_ key: Key) -> (key: Key, holds: [Holds.Hold])? {
    guard !byKey.isEmpty, let place = byKey.index(forKey: key) else { return nil }
    let (key, holds) = byKey.remove(at: place)
    count -= holds.count
    return (key, holds)
  }

  mutating func takeAll() -> [Key: [Holds.Hold]] {
    defer { (byKey, count) = ([:], 0) }
    return byKey
  }
}
