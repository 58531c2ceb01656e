public import MillpondSignals

/// The keys of which the last telling did not reach where values outlive the process.
final class Unsaved<Key: Hashable & Sendable>: Sendable {
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var failures: [Key: Failure] = [:]
    var lastNumber = 0
  }

  fileprivate struct Failure: Sendable {
    let number: Int
    let removal: Revision?
  }

  /// Where it was a removal, with its revision.
  var all: [(key: Key, removal: Revision?)] {
    state.withLock { $0.failures.map { ($0.key, $0.value.removal) } }
  }

  /// Notes how a telling of the key ends.
  func watch(_ key: Key, removal: Revision? = nil, _ outcome: Signal<Void>) {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    outcome.subscribe { [state] event in
      guard event.isTerminal else { return }
      let gone = state.withLock { state -> (Key, Failure)? in
        guard case .failed = event else { return state.take(key, before: number) }
        state.add(key, Failure(number: number, removal: removal))
        return nil
      }
      _ = gone  // released here, not under the lock
    }
  }

  func forgetAll() {
    let gone = state.withLock { state in
      defer { state.failures = [:] }
      return state.failures
    }
    _ = gone
  }
}

extension Unsaved.State {
  mutating func add(_ key: Key, _ failure: Unsaved.Failure) {
    if failure.number > failures[key]?.number ?? 0 { failures[key] = failure }
  }

  /// Forgets a failure that came before a success.
  mutating func take(_ key: Key, before number: Int) -> (Key, Unsaved.Failure)? {
    guard !failures.isEmpty, let place = failures.index(forKey: key),
      failures.values[place].number < number
    else { return nil }
    let (key, failure) = failures.remove(at: place)
    return (key, failure)
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
    case .set(let key, _, _), .fill(let key, _, _):
      unsaved.watch(key, outcome)
    case .remove(let key, let revision): unsaved.watch(key, removal: revision, outcome)
    case .removeAll: unsaved.forgetAll()
    }
    return outcome
  }

  @usableFromInline
  func layout(for key: Key?) -> Layout {
    base.layout(for: key)
  }
}
