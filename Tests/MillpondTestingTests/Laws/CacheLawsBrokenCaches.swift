import MillpondCore
import MillpondSignals
import MillpondTesting

/// A dictionary that is wrong in one way.
final class BrokenCache: Cache {
  enum Fault {
    /// A caller that wants a new value gets an immediate old one.
    case staleNow

    /// The answer with an age is that of the last set, removed or not.
    case staleStamped

    /// Takes every fill.
    case ignoresTokens

    /// Does not remove.
    case forgetsNothing

    /// A miss is silence.
    case neverCompletes

    /// A hit ends twice.
    case completesTwice
  }

  private let fault: Fault
  private let inner = TestCache<String, Int>()
  private let lastSet = Locked<[String: Int]>([:])

  init(_ fault: Fault) {
    self.fault = fault
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    getRight(key, lookup).values()
  }

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    guard fault == .staleStamped else { return getRight(key, lookup) }
    return .deferred {
      self.lastSet.withLock { $0[key] }.map { .just(.value(Stamped($0))) } ?? .empty
    }
  }

  private func getRight(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    let answer = inner.answers(key, lookup)
    switch fault {
    case .neverCompletes:
      return Signal { observer, lifetime in
        answer.run(
          observer.replacingOther { if case .completed = $0 {} else { observer.other($0) } },
          lifetime)
      }
    case .completesTwice:
      return Signal { observer, lifetime in
        answer.run(observer, lifetime)
        observer.completed()
      }
    default: return answer
    }
  }

  func now(_ key: String, _ lookup: Lookup) -> Int? {
    fault == .staleNow ? inner.contents[key] : nil
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, _):
      lastSet.withLock { $0[key] = stamped.value }
    case .remove where fault == .forgetsNothing: return .just(())
    case .fill(let key, let stamped, _) where fault == .ignoresTokens:
      return inner.apply(.fill(key, stamped, .any))
    default: break
    }
    return inner.apply(change)
  }

}

/// Two layers, one over the other, but wrong.
struct WrongLayers: Cache {
  enum Fault {
    case failureHides, upperFirst, ignoresToken
  }

  let upper: AnyCache<String, Int>
  let lower: AnyCache<String, Int>
  let fault: Fault

  init(_ upper: AnyCache<String, Int>, _ lower: AnyCache<String, Int>, _ fault: Fault) {
    self.upper = upper
    self.lower = lower
    self.fault = fault
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    answers(key, lookup).values()
  }

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    let right = upper.layered(over: lower)
    switch fault {
    case .upperFirst: return right.answers(key, lookup)
    case .failureHides:
      return upper.answers(key, lookup).ifNotFound { failure, _ in
        failure.map { .fail($0) } ?? right.answers(key, lookup)
      }
    case .ignoresToken:
      return upper.answers(key, lookup).ifNotFound { _, _ in
        lower.answers(key, lookup).onNext { [upper] answer in
          if let stamped = answer.stamped { _ = upper.apply(.fill(key, stamped, .any)) }
        }
      }
    }
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    guard fault == .upperFirst else { return upper.layered(over: lower).apply(change) }
    let above = upper.apply(change)
    return above.filter { _ in false }.ifEmpty { lower.apply(change) }
  }
}

/// A reuse of flights that does not detach them at a write.
struct StickyReuse<Base: Cache>: Cache {
  private let base: Base
  private let reusing: InFlightReuse<Base>

  init(_ base: Base) {
    self.base = base
    reusing = base.reusingInFlight()
  }

  func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    reusing.get(key, lookup)
  }

  func apply(_ change: Change<Base.Key, Base.Value>) -> Signal<Void> {
    base.apply(change)
  }
}

/// A source that goes on with its work without subscribers.
struct Unstoppable<Base: Source>: Source {
  let base: Base

  func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    Signal { observer, _ in base.get(key, lookup).run(observer, Lifetime()) }
  }
}

/// A cache that gets and sets under another key, and removes the original one.
struct WrongKeys: Cache {
  let base: AnyCache<String, Int>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    base.mapKeys { $0 + "!" }.get(key, lookup)
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    if case .remove = change { return base.apply(change) }
    return base.mapKeys { $0 + "!" }.apply(change)
  }
}
