public import MillpondSignals

/// The keys of which the last value could not be kept where it outlives the process.
final class Unsaved<Key: Hashable & Sendable>: Sendable {
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var failed: [Key: Int] = [:]
    var lastNumber = 0
  }

  var keys: [Key] {
    state.withLock { Array($0.failed.keys) }
  }

  /// Notes how it ends that a value of the key is kept.
  func watch(_ key: Key, _ outcome: Signal<Void>) {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    outcome.subscribe { [state] event in
      guard event.isTerminal else { return }
      let gone = state.withLock { state -> (Key, Int)? in
        guard case .failed = event else { return state.take(key, before: number) }
        state.failed[key] = max(number, state.failed[key] ?? 0)
        return nil
      }
      _ = gone  // released here, not under the lock
    }
  }

  func forgetAll() {
    let gone = state.withLock { state in
      defer { state.failed = [:] }
      return state.failed
    }
    _ = gone
  }
}

extension Unsaved.State {
  /// Forgets a failure that came before a success.
  mutating func take(_ key: Key, before number: Int) -> (Key, Int)? {
    guard let place = failed.index(forKey: key), failed.values[place] < number else { return nil }
    let (key, number) = failed.remove(at: place)
    return (key, number)
  }
}

/// A cache that notes which values it could not keep.
@usableFromInline
struct Saving<Base: Cache>: Wrapper, Cache {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value

  @usableFromInline let base: Base
  let unsaved: Unsaved<Key>
  @usableFromInline var title: String { "saving" }

  @usableFromInline
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  @usableFromInline
  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup)
  }

  @usableFromInline
  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    switch change {
    case .set(let key, _, _), .remove(let key, _), .fill(let key, _, _):
      unsaved.watch(key, outcome)
    case .removeAll: unsaved.forgetAll()
    }
    return outcome
  }

  @usableFromInline
  func layout(for key: Key?) -> Layout {
    base.layout(for: key)
  }
}
