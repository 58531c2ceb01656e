import Millpond
import MillpondSignals
import MillpondTesting

/// A store whose gets take time: those that a test holds are answered later, unless they were given
/// up.
final class SlowStore: Cache {
  let base = TestCache<String, HTTPCacheRecord>()
  private let state = Locked(State())

  private struct State: Sendable {
    var isHeld: @Sendable (String) -> Bool = { _ in false }
    var held: [@Sendable () -> Void] = []
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<HTTPCacheRecord> {
    Signal { [base, state] observer, lifetime in
      let answer: @Sendable () -> Void = {
        if !lifetime.isEnded { base.get(key, lookup).run(observer, lifetime) }
      }
      let isHeld = state.withLock { state in
        let isHeld = state.isHeld(key)
        if isHeld { state.held.append(answer) }
        return isHeld
      }
      if !isHeld { answer() }
    }
  }

  func apply(_ change: Change<String, HTTPCacheRecord>) -> Signal<Void> { base.apply(change) }

  /// Holds the gets of these keys from now on.
  func hold(_ isHeld: @escaping @Sendable (String) -> Bool = { _ in true }) {
    state.withLock { $0.isHeld = isHeld }
  }

  /// Answers the gets that are held, and those from now on immediately.
  func release() {
    let answers = state.withLock { state in
      state.isHeld = { _ in false }
      return exchange(&state.held, with: [])
    }
    for answer in answers { answer() }
  }
}
