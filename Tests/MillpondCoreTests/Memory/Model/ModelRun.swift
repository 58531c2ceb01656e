import MillpondSignals
import MillpondTesting

@testable import MillpondCore

/// A run of steps on a memory cache and on a reference, with a report of their differences.
final class ModelRun: Sendable {
  private let scene: ModelScene
  private let clock = ManualClock()
  private let cache: MemoryCache<Int, Int>
  private let gone = Locked<[Removal<Int, Int>]>([])
  private let state: Locked<ModelState>

  init(_ scene: ModelScene) {
    self.scene = scene
    cache = scene.makeCache(clock)
    state = Locked(ModelState(ReferenceCache(scene, isExact: scene.keyCount < 1_000)))
    cache.removals.subscribe(onNext: { [gone] removal in gone.withLock { $0.append(removal) } })
  }

  /// Runs the steps, and returns the first fault and the number of steps before it; nil if there is
  /// none.
  ///
  /// - Parameter interval: The number of steps between complete comparisons.
  static func run(
    _ scene: ModelScene, _ steps: [ModelStep], interval: Int
  ) -> (complaint: String, count: Int)? {
    let run = ModelRun(scene)
    for (number, step) in steps.enumerated() {
      var complaint = run.take(step)
      if number % interval == 0 { complaint = complaint ?? run.complaintOfAll() }
      if let complaint { return (complaint, number + 1) }
    }
    return run.complaintOfAll().map { ($0, steps.count) }
  }

  private func take(_ step: ModelStep) -> String? {
    state.withLock { take(step, &$0) }
  }

  private func take(_ step: ModelStep, _ state: inout ModelState) -> String? {
    switch step {
    case .set(let key, let cost):
      let value = state.nextValue(cost)
      state.writes.add(key)
      cache.set(value, for: key)
      let deadline = state.reference.now + scene.timeToLive
      return keep(key, value, age: 0, deadline: deadline, &state)
    case .setFor(let key, let cost, let time):
      let value = state.nextValue(cost)
      state.writes.add(key)
      cache.set(value, for: key, timeToLive: .after(.nanoseconds(time)))
      return keep(key, value, age: 0, deadline: state.reference.now + time, &state)
    case .fill(let key, let cost, let age, let hasMark):
      return fill(key, state.nextValue(cost), age, hasMark, &state)
    case .readMark(let key):
      state.marks[key] = ModelState.Mark(
        token: FillToken(), writes: state.writes.count(of: key))
      return settle(.nothing, &state)
    case .remove(let key):
      state.writes.add(key)
      cache.remove(key)
      return settle(.removal(of: key), &state)
        ?? (state.reference.entries[key] == nil ? nil : "\(key) was removed, and is there")
    case .removeAll:
      state.writes.addAll()
      cache.removeAll()
      return settle(.removal(of: nil), &state)
        ?? (state.reference.entries.isEmpty ? nil : "all was removed, and some is there")
    case .now(let key): return ask(key, atMost: nil, &state)
    case .nowAtMost(let key, let age): return ask(key, atMost: age, &state)
    case .peek(let key):
      let entry = state.reference.entries[key].flatMap { state.reference.isExpired($0) ? nil : $0 }
      let found = cache.peek(key)
      return found == entry?.value
        ? settle(.nothing, &state) : "peeked \(found as Int?), not \(entry?.value as Int?)"
    case .snapshot: return settle(.nothing, &state) ?? complaintOfContents(state.reference)
    default: return takeRare(step, &state)
    }
  }

  private func takeRare(_ step: ModelStep, _ state: inout ModelState) -> String? {
    switch step {
    case .advance(let time):
      clock.advance(by: .nanoseconds(time))
      state.reference.now += time
      return settle(.nothing, &state)
    case .countLimit(let limit):
      cache.countLimit = limit
      state.reference.countLimit = limit
      return settle(.limits, &state)
    case .costLimit(let limit):
      guard scene.isWeighted else { return nil }
      cache.costLimit = limit
      state.reference.costLimit = limit
      return settle(.limits, &state)
    case .trim(let share):
      let need = state.reference.need(of: share, .evicted)
      cache.trim(to: share)
      return settle(need, &state)
    case .relieve(let pressure):
      let need = state.reference.need(of: pressure == .warning ? 0.5 : 0, .pressure)
      cache.relieve(pressure)
      return settle(need, &state)
    default:
      cache.removeExpired()
      return settle(.age, &state)
        ?? (state.reference.hasExpired ? "what had expired is still there" : nil)
    }
  }

  private func ask(_ key: Int, atMost age: Int64?, _ state: inout ModelState) -> String? {
    let freshness = age.map { Freshness.atMost(.nanoseconds($0)) } ?? .any
    let answer = Recorder<Int>().subscribe(to: cache.get(key, freshness: freshness))
    let found = answer.values.first
    if let complaint = settle(.ageOf(key), &state) { return complaint }
    if let entry = state.reference.entries[key], state.reference.isExpired(entry) {
      return "\(key) had expired when it was asked for, and is there"
    }
    let expected = state.reference.ask(key, atMost: age)
    return found == expected ? nil : "found \(found as Int?), not \(expected as Int?)"
  }

  private func fill(
    _ key: Int, _ value: Int, _ age: Int64, _ hasMark: Bool, _ state: inout ModelState
  ) -> String? {
    let mark = hasMark ? state.marks[key] : nil
    let rejections = cache.statistics.rejections
    _ = cache.apply(.fill(key, Stamped(value, age: .nanoseconds(age)), mark?.token ?? .any))
    let writes = state.writes.count(of: key)
    if let mark, writes.doubtful != mark.writes.doubtful {
      let isOfKey = writes.certain != mark.writes.certain
      let isTaken = cache.peek(key) == value || cache.statistics.rejections > rejections
      if isOfKey && isTaken { return "\(key) was filled with what came too late" }
      if !isTaken { return settle(.nothing, &state) }
    }
    let deadline = state.reference.now - age + scene.timeToLive
    return keep(key, value, age: age, deadline: deadline, &state)
  }

  /// After a write, the value is there unless it was inadmissible or not worth it.
  private func keep(
    _ key: Int, _ value: Int, age: Int64, deadline: Int64, _ state: inout ModelState
  ) -> String? {
    let cost = scene.isWeighted ? value & 255 : 0
    let now = state.reference.now
    let isPossible =
      cost <= state.reference.costLimit && state.reference.countLimit > 0 && deadline > now
    let isKept = isPossible && cache.peek(key) == value
    let need = ReferenceCache.Need.room(key: key, cost: cost, isKept: isKept)
    if let complaint = settle(need, &state, isStored: isKept) { return complaint }
    guard isKept else {
      state.reference.statistics.rejections += 1
      if state.reference.entries[key] != nil { return "\(key) was refused, and its old value kept" }
      let mayRefuse =
        scene.isWeighted && scene.policy != .leastRecentlyUsed
        && state.reference.isTooMuch(for: need)
      return isPossible && !mayRefuse ? "\(key) is not there" : nil
    }
    // A value of the same key was replaced, so its removal is reported and it is absent.
    if state.reference.entries[key] != nil { return "\(key) was not told of as replaced" }
    state.reference.add(key, value, cost, bornAt: now - age, deadline: deadline)
    return complaintOfNumbers(state.reference)
  }

  /// Takes over the removals, each with its reason.
  private func settle(
    _ need: ReferenceCache.Need, _ state: inout ModelState, isStored: Bool = false
  ) -> String? {
    let removals = gone.withLock { gone in
      defer { gone.removeAll(keepingCapacity: true) }
      return gone
    }
    var hasEvicted = false
    for removal in removals {
      if removal.cause == .evicted || removal.cause == .pressure, !hasEvicted {
        if !state.reference.isTooMuch(for: need) { return "\(removal): there was room" }
        hasEvicted = true
      }
      if let complaint = state.reference.lose(removal, for: need) { return complaint }
    }
    if isStored { return nil }
    if case .room = need {
    } else if state.reference.isTooMuch(for: need) {
      return "\(state.reference.entries.count) are left, which is too much"
    }
    return complaintOfNumbers(state.reference)
  }

  private func complaintOfNumbers(_ reference: ReferenceCache) -> String? {
    let (count, cost) = (cache.count, cache.totalCost)
    if count != reference.entries.count {
      return "\(count) are kept, not \(reference.entries.count)"
    }
    if cost != reference.totalCost { return "they cost \(cost), not \(reference.totalCost)" }
    if count > reference.countLimit || cost > reference.costLimit { return "a limit is exceeded" }
    return nil
  }

  private func complaintOfContents(_ reference: ReferenceCache) -> String? {
    let contents = cache.snapshot()
    let kept = Dictionary(contents.map { ($0.key, $0.value) }) { first, _ in first }
    if kept.count != contents.count { return "a snapshot with a key twice" }
    let expected = reference.entries.filter { !reference.isExpired($0.value) }.mapValues(\.value)
    return kept == expected ? nil : "\(kept) is kept, not \(expected)"
  }

  private func complaintOfAll() -> String? {
    state.withLock { state in
      if cache.statistics != state.reference.statistics {
        return "\(cache.statistics), not \(state.reference.statistics)"
      }
      return complaintOfContents(state.reference) ?? cache.shards.flaw()
    }
  }
}
