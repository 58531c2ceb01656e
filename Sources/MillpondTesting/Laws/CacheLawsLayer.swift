import MillpondCore
import MillpondSignals

/// A wrapper of any cache that fails and holds back answers on request of the checks.
final class CacheLawsLayer<Key: Hashable & Sendable, Value: Sendable>: Cache {
  private struct Held: Sendable {
    let number: Int
    let give: @Sendable () -> Void
  }

  private struct State: Sendable {
    var getFailures: [Key: any Error] = [:]
    var changeFailures: [Key: any Error] = [:]
    var isHolding = false
    var held: [Held] = []
    var lastNumber = 0
    var gets: [Key] = []
  }

  let base: AnyCache<Key, Value>
  private let state = Locked(State())

  init(_ base: AnyCache<Key, Value>) {
    self.base = base
  }

  /// The keys of all gets, in order.
  var gets: [Key] {
    state.withLock { $0.gets }
  }

  /// The number of gets.
  var getCount: Int {
    state.withLock { $0.gets.count }
  }

  /// The number of answers that are held back.
  var heldCount: Int {
    state.withLock { $0.held.count }
  }

  func failGets(of key: Key, with error: (any Error)?) {
    state.withLock { $0.getFailures[key] = error }
  }

  func failChanges(of key: Key, with error: (any Error)?) {
    state.withLock { $0.changeFailures[key] = error }
  }

  /// Holds back the answers of gets from now on, or no longer.
  func holdAnswers(_ isHolding: Bool) {
    state.withLock { $0.isHolding = isHolding }
  }

  /// Releases one of the answers that are held back.
  func give(_ index: Int) {
    let held = state.withLock { $0.held.remove(at: index) }
    held.give()
  }

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    asOrdered(key) { self.base.get(key, lookup) }
  }

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    asOrdered(key) { self.base.answers(key, lookup) }
  }

  func now(_ key: Key, _ lookup: Lookup) -> Value? {
    let isOrdered = state.withLock { $0.isHolding || $0.getFailures[key] != nil }
    guard !isOrdered, let value = base.now(key, lookup) else { return nil }
    state.withLock { $0.gets.append(key) }
    return value
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, _, _), .fill(let key, _, _):
      state.withLock { $0.changeFailures[key] }.map { .fail($0) } ?? base.apply(change)
    case .remove, .removeAll, .removeMatching: base.apply(change)
    }
  }

  func topology(for key: Key?) -> Topology {
    base.topology(for: key)
  }

  private func asOrdered<Element>(
    _ key: Key, _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element> {
    Signal { observer, lifetime in
      let (failure, isHolding) = self.state.withLock { state in
        state.gets.append(key)
        return (state.getFailures[key], state.isHolding)
      }
      let answer = failure.map { .fail($0) } ?? ask()
      if isHolding {
        self.hold(answer, observer, lifetime)
      } else {
        answer.run(observer, lifetime)
      }
    }
  }

  /// Asks the base now and answers later, like a slow disk that reads before the next write.
  private func hold<Element>(
    _ answer: Signal<Element>, _ observer: Observer<Element>, _ lifetime: Lifetime
  ) {
    let read = answer.replayLast()
    read.run(Observer(next: { _ in }, other: { _ in }), lifetime)
    let number = state.withLock { state in
      state.lastNumber += 1
      state.held.append(Held(number: state.lastNumber) { read.run(observer, lifetime) })
      return state.lastNumber
    }
    lifetime.onEnd {
      self.state.discard { state in
        state.held.firstIndex { $0.number == number }.map { state.held.remove(at: $0) }
      }
    }
  }
}
