import MillpondSignals

@testable import MillpondCore

/// A plain cache that checks the promises of a memory cache.
///
/// It takes the removals from the cache's own reports, and checks that each is permitted. With one
/// store and the least recently used first, exactly that removal is permitted, at that moment only.
struct ReferenceCache {
  struct Entry: Equatable {
    let value: Int
    let cost: Int
    let bornAt: Int64
    let deadline: Int64
    var lastUse: Int64
    var turn: Int
  }

  /// The reason for removals in a step.
  enum Need: Equatable {
    case nothing
    case room(key: Int, cost: Int, isKept: Bool)
    case removal(of: Int?)
    case limits
    case share(count: Int, cost: Int, Removal<Int, Int>.Cause)
    case age
    case ageOf(Int)
  }

  let isWeighted: Bool
  let isExact: Bool
  let timeToIdle: Int64
  var entries: [Int: Entry] = [:]
  var now: Int64 = 0
  var countLimit: Int
  var costLimit: Int
  var totalCost = 0
  var statistics = MemoryStatistics()
  private var turns = 0

  init(_ scene: ModelScene, isExact: Bool) {
    isWeighted = scene.isWeighted
    self.isExact = isExact && scene.policy == .leastRecentlyUsed
    timeToIdle = scene.expiry == .all ? 90 : .max
    countLimit = scene.countLimit
    costLimit = scene.isWeighted ? scene.costLimit : .max
  }

  func isExpired(_ entry: Entry) -> Bool {
    now >= entry.deadline || timeToIdle < .max && now - entry.lastUse >= timeToIdle
  }

  /// Returns the answer to a get that counts.
  mutating func ask(_ key: Int, atMost age: Int64?) -> Int? {
    guard let entry = entries[key], now - entry.bornAt <= age ?? .max else {
      statistics.misses += 1
      return nil
    }
    statistics.hits += 1
    use(key)
    return entry.value
  }

  /// Inserts a written value, and replaces the former one.
  mutating func add(_ key: Int, _ value: Int, _ cost: Int, bornAt: Int64, deadline: Int64) {
    statistics.insertions += 1
    totalCost += cost
    entries[key] = Entry(
      value: value, cost: cost, bornAt: bornAt, deadline: deadline, lastUse: now, turn: 0)
    use(key)
  }

  private mutating func use(_ key: Int) {
    turns += 1
    entries[key]?.turn = turns
    entries[key]?.lastUse = now
  }

  /// Removes an entry, and returns the fault of that removal; nil if there is none.
  mutating func lose(_ removal: Removal<Int, Int>, for need: Need) -> String? {
    guard let entry = entries[removal.key] else { return "\(removal) was not there" }
    if entry.value != removal.value { return "\(removal) went, and \(entry.value) was there" }
    if let refusal = refusal(of: removal, entry, need) { return "\(removal): \(refusal)" }
    switch removal.cause {
    case .evicted, .pressure: statistics.evictions += 1
    case .expired: statistics.expirations += 1
    case .removed, .replaced: break
    }
    entries[removal.key] = nil
    totalCost -= entry.cost
    return nil
  }

  private func refusal(
    of removal: Removal<Int, Int>, _ entry: Entry, _ need: Need
  ) -> String? {
    switch (removal.cause, need) {
    case (.expired, .room), (.expired, .age): isExpired(entry) ? nil : "its time is not over"
    case (.expired, .ageOf(let key)) where key == removal.key:
      isExpired(entry) ? nil : "its time is not over"
    case (.replaced, .room(let key, _, _)) where key == removal.key: nil
    case (.removed, .removal(let key)) where key ?? removal.key == removal.key: nil
    case (.evicted, .room(_, _, false)): "what isn't stored needs no room"
    case (.evicted, .room), (.evicted, .limits): refusalToEvict(entry, need)
    case (let cause, .share(_, _, let expected)) where cause == expected:
      refusalToEvict(entry, need)
    default: "no reason for that"
    }
  }

  private func refusalToEvict(_ entry: Entry, _ need: Need) -> String? {
    guard isExact else { return nil }
    if !isTooMuch(for: need) { return "there was room" }
    let oldest = entries.values.min { $0.turn < $1.turn }
    return oldest == entry ? nil : "it was not the least recently used"
  }

  /// Whether something must be evicted.
  func isTooMuch(for need: Need) -> Bool {
    switch need {
    case .room(_, let cost, _):
      entries.count >= countLimit || cost > costLimit - totalCost
    case .limits: entries.count > countLimit || totalCost > costLimit
    case .share(let count, let cost, _):
      entries.count > count || isWeighted && totalCost > cost
    case .nothing, .removal, .age, .ageOf: false
    }
  }
}

extension ReferenceCache {
  var hasExpired: Bool {
    entries.values.contains { isExpired($0) }
  }

  /// Returns the need to shrink the contents to a share of them.
  func need(of share: Double, _ cause: Removal<Int, Int>.Cause) -> Need {
    guard share < 1 else { return .nothing }
    let share = max(0, share)
    return .share(
      count: Int(Double(entries.count) * share), cost: Int(Double(totalCost) * share), cause)
  }
}
