import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Changes that overlap in layers, at every moment at which one layer has one of them and the next
/// has not.
@Suite struct LayerOrderTests {
  @Test(arguments: OverlapScene.Shape.allCases)
  func `of two overlapping changes none leaves a layer older than the next, or a removed value`(
    shape: OverlapScene.Shape
  ) {
    for first in [Overlap.set, .remove, .removeAll, .removeMatching, .end, .renew, .reload, .get] {
      for second in [Overlap.set, .remove, .renew, .reload, .get, .evictAbove, .evictBelow] {
        check(shape, [first, second], isStored: true)
      }
    }
    for second in [Overlap.set, .reload] { check(shape, [.get, second], isStored: false) }
  }

  @Test(arguments: [OverlapScene.Shape.two, .leftTwo])
  func `and of three overlapping changes none does`(shape: OverlapScene.Shape) {
    for first in [Overlap.set, .reload] {
      for second in [Overlap.set, .remove, .evictBelow] {
        for third in [Overlap.set, .get, .evictAbove] {
          check(shape, [first, second, third], isStored: true)
        }
      }
    }
  }

  /// Makes the changes with an origin that answers at once, and with one that answers after them.
  private func check(_ shape: OverlapScene.Shape, _ changes: [Overlap], isStored: Bool) {
    check(shape, changes, isLate: false, isStored: isStored)
    if changes.contains(.reload) || changes.contains(.get) {
      check(shape, changes, isLate: true, isStored: isStored)
    }
  }

  /// Makes each change but the first at every moment of the one before it.
  private func check(
    _ shape: OverlapScene.Shape, _ changes: [Overlap], isLate: Bool, isStored: Bool
  ) {
    var moments = changes.dropFirst().map { _ in 0 }
    while true {
      let scene = OverlapScene(shape, isLate: isLate, isStored: isStored)
      scene.make(changes, at: moments)
      if let fault = scene.fault() {
        Issue.record("\(shape) \(changes) at \(moments), late \(isLate), \(isStored): \(fault)")
        return
      }
      // The last moment that was reached goes on, and those after it begin again.
      let reached = scene.madeCount - 1
      if reached == moments.count {
        moments[reached - 1] += 1
      } else if reached == 0 {
        return
      } else {
        moments[reached - 1] += 1
        for later in reached..<moments.count { moments[later] = 0 }
      }
    }
  }
}

/// A change of the key that all scenes have, or of what layers have of it.
enum Overlap: CaseIterable {
  case set, remove, removeAll, removeMatching, renew, reload, get, evictAbove, evictBelow, end
}

/// Layers of memory caches between which a change can be made at each moment of another one.
final class OverlapScene: Sendable {
  enum Shape: CaseIterable {
    case two, leftTwo, three, closures, monitored
  }

  private struct State: Sendable {
    var number = 0
    var changes: [Overlap] = []
    var moments: [Int] = []

    /// The changes that have begun, and the number of moments of each.
    var counts: [Int] = []
    var lastSet = 0
  }

  private let state = Locked(State())
  private let held = Locked<[@Sendable () -> Void]>([])
  private let memories = (0..<3).map { _ in MemoryCache<String, Int>(countLimit: 10) }
  private let closed = TestCache<String, Int>()
  private let scope = CacheScope()
  private let shape: Shape
  private let isLate: Bool
  private let isStored: Bool
  private let built = Locked<AnyCache<String, Int>?>(nil)

  /// - Parameters:
  ///   - shape: The composition.
  ///   - isLate: Whether the origin answers after all changes.
  ///   - isStored: Whether a value is stored before.
  init(_ shape: Shape, isLate: Bool, isStored: Bool) {
    self.shape = shape
    self.isLate = isLate
    self.isStored = isStored
    let cache = AnyCache(make().scoped(to: scope))
    built.withLock { $0 = cache }
    if isStored { perform(.set) }
  }

  private var cache: AnyCache<String, Int> { built.withLock { $0 } ?? AnyCache(EmptyCache()) }

  private func make() -> AnyCache<String, Int> {
    let origin = AnswerOrigin { [unowned self] answer in
      let number = nextNumber()
      if isLate { held.withLock { $0.append { answer(number) } } } else { answer(number) }
    }
    func watched(_ base: some Cache<String, Int>) -> MomentLayer { watchedLayer(AnyCache(base)) }
    let (top, middle, low) = (memories[0], memories[1], memories[2])
    return switch shape {
    case .two: AnyCache(top.layered(over: watched(low.layered(over: origin))))
    case .leftTwo: AnyCache(top.layered(over: watched(low)).layered(over: origin))
    case .three:
      AnyCache(
        top.layered(over: watched(middle.layered(over: watched(low.layered(over: origin))))))
    case .closures:
      AnyCache(top.layered(over: watched(closures)).layered(over: origin))
    case .monitored:
      AnyCache(
        top.layered(
          over: watched(low.layered(over: origin)).monitored(by: CacheMonitor())))
    }
  }

  private var closures: AnyCache<String, Int> {
    AnyCache(
      get: { [closed] in closed.get($0) }, set: { [closed] in closed.set($0, for: $1) },
      remove: { [closed] in closed.remove($0) }, removeAll: { [closed] in closed.removeAll() },
      removeMatching: { [closed] isRemoved in closed.removeAll(where: isRemoved) })
  }

  private func watchedLayer(_ base: AnyCache<String, Int>) -> MomentLayer {
    MomentLayer(base: base) { [unowned self] in passMoment() }
  }

  /// The values of the layers from the top.
  private var values: [Int] {
    (memories.map { $0.peek("a") } + [closed.contents["a"]]).compactMap { $0 }
  }

  private func nextNumber() -> Int {
    state.withLock { state in
      state.number += 1
      return state.number
    }
  }

  // MARK: Changes

  /// The number of changes that were made.
  var madeCount: Int { state.withLock { $0.counts.count } }

  func make(_ changes: [Overlap], at moments: [Int]) {
    state.withLock { ($0.changes, $0.moments, $0.counts) = (changes, moments, [0]) }
    perform(changes[0])
    for answer in held.withLock({ $0 }) { answer() }
  }

  /// Makes the next change if its moment has come.
  private func passMoment() {
    let next = state.withLock { state -> Overlap? in
      guard let last = state.counts.indices.last, last < state.moments.count else { return nil }
      defer { state.counts[last] += 1 }
      guard state.counts[last] == state.moments[last] else { return nil }
      state.counts.append(0)
      return state.changes[last + 1]
    }
    if let next { perform(next) }
  }

  private func perform(_ change: Overlap) {
    switch change {
    case .set:
      let number = nextNumber()
      state.withLock { $0.lastSet = number }
      cache.set(number, for: "a")
    case .remove: cache.remove("a")
    case .removeAll: cache.removeAll()
    case .removeMatching: _ = cache.removeAll { $0 == "a" }
    case .renew: cache.setTimeToLive(.after(.seconds(1_000)), for: "a")
    case .reload: cache.get("a", freshness: .reload).subscribe()
    // The lookup of a release build, which has no place in the code.
    case .get: cache.get("a", Lookup()).subscribe()
    case .evictAbove: memories[0].trim(to: 0)
    case .evictBelow: memories[2].trim(to: 0)
    case .end: scope.end()
    }
  }

  // MARK: Verdict

  /// Returns what is wrong when everything has ended.
  func fault() -> String? {
    let (values, state) = (values, state.withLock { $0 })
    // The get below makes no change.
    self.state.withLock { $0.moments = [] }
    for (upper, lower) in zip(values, values.dropFirst()) where upper < lower {
      return "the layers have \(values) from above"
    }
    let changes = Set(state.changes.prefix(state.counts.count))
    if isStored, !changes.isDisjoint(with: [.remove, .removeAll, .removeMatching, .end]),
      values.contains(1)
    {
      return "the removed value is still there: \(values)"
    }
    if changes.isSubset(of: [.set, .renew, .get, .evictAbove]), state.lastSet > 0,
      Recorder<Int>().subscribe(to: cache.get("a", freshness: .cachedOnly)).values
        != [state.lastSet]
    {
      return "the set of \(state.lastSet) is lost: \(values)"
    }
    return nil
  }
}

/// An origin whose answers its owner sends.
private struct AnswerOrigin: Source {
  let ask: @Sendable (@escaping @Sendable (Int) -> Void) -> Void

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    Signal { observer, _ in
      ask { value in
        observer.next(value)
        observer.completed()
      }
    }
  }
}

/// A layer whose owner is told of the moments before and after everything that passes.
private struct MomentLayer: Cache, AnsweringSource {
  let base: AnyCache<String, Int>
  let pass: @Sendable () -> Void

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    .deferred {
      pass()
      return base.answers(key, lookup).onNext { _ in pass() }
    }
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    pass()
    let outcome = base.apply(change)
    pass()
    return outcome
  }

  func topology(for key: String?) -> Topology {
    Topology(.wrapper, "moments", of: base.topology(for: key))
  }
}
