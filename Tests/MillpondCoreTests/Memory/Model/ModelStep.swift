import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// One thing that is done to a memory cache.
enum ModelStep: Sendable {
  case set(Int, cost: Int)
  case setFor(Int, cost: Int, time: Int64)
  case remove(Int)
  case removeAll
  case now(Int)
  case nowAtMost(Int, age: Int64)
  case peek(Int)
  case snapshot
  case readMark(Int)
  case fill(Int, cost: Int, age: Int64, hasMark: Bool)
  case advance(Int64)
  case countLimit(Int)
  case costLimit(Int)
  case trim(Double)
  case relieve(MemoryPressure)
  case removeExpired
}

/// Draws steps for a cache: mostly gets and writes, rarely one that concerns everything.
struct ModelSteps {
  let scene: ModelScene
  var random: SeededGenerator

  init(_ scene: ModelScene, seed: UInt64) {
    self.scene = scene
    random = SeededGenerator(seed: seed)
  }

  mutating func draw() -> ModelStep {
    if Int.random(in: 0..<scene.calm, using: &random) == 0 { return drawRare() }
    let key = drawKey()
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<32: return .set(key, cost: drawCost())
    case 32..<60: return .now(key)
    case 60..<65: return .nowAtMost(key, age: drawTime())
    case 65..<70: return .peek(key)
    case 70..<75: return .readMark(key)
    case 75..<84:
      return .fill(
        key, cost: drawCost(), age: drawTime() / 2, hasMark: .random(using: &random))
    case 84..<88:
      return scene.expiry == .none ? .now(key) : .setFor(key, cost: drawCost(), time: drawTime())
    case 88..<94: return .remove(key)
    default: return scene.expiry == .none ? .peek(key) : .advance(drawTime() / 4)
    }
  }

  private mutating func drawRare() -> ModelStep {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: .removeAll
    case 1: .trim([0, 0.3, 0.5, 0.9, 1, 7, -1, .nan].randomElement(using: &random) ?? 0)
    case 2: .relieve(.random(using: &random) ? .warning : .critical)
    case 3...4: .removeExpired
    case 5...7: .snapshot
    case 8...9: .countLimit(Int.random(in: 0...scene.countLimit, using: &random))
    case 10: .countLimit(scene.countLimit)
    default: .costLimit(Int.random(in: 0...3, using: &random) * scene.costLimit / 3)
    }
  }

  /// Half of the gets are for an eighth of the keys.
  private mutating func drawKey() -> Int {
    let keys = Bool.random(using: &random) ? scene.keyCount : max(1, scene.keyCount / 8)
    return Int.random(in: 0..<keys, using: &random)
  }

  private mutating func drawCost() -> Int {
    let limit = Int.random(in: 0..<10, using: &random) == 0 ? 255 : 15
    return Int.random(in: 0...limit, using: &random)
  }

  private mutating func drawTime() -> Int64 {
    Int64.random(in: 0...100, using: &random)
  }
}

/// The parameters of a cache, and the steps on it.
struct ModelScene: Sendable, CustomTestStringConvertible {
  /// The values that expire.
  enum Expiry: CaseIterable {
    case none, own, all
  }

  let policy: EvictionPolicy
  let isWeighted: Bool
  let expiry: Expiry
  var keyCount = 48
  var countLimit = 24
  var costLimit = 200

  /// The number of steps for each one that concerns everything.
  var calm = 40

  /// The number of keys that are set at the beginning.
  var filling = 0

  /// Longer than any clock here runs, unless the cache has a time to live.
  var timeToLive: Int64 {
    expiry == .all ? 150 : .max / 2
  }

  /// A small one of each kind.
  static var all: [ModelScene] {
    [EvictionPolicy.leastRecentlyUsed, .adaptive, .adaptivePreferringSmall].flatMap { policy in
      [true, false].flatMap { isWeighted in
        Expiry.allCases.map { ModelScene(policy: policy, isWeighted: isWeighted, expiry: $0) }
      }
    }
  }

  /// The scenes with enough entries for sixteen stores.
  static var large: [ModelScene] {
    all.map { small in
      var large = small
      (large.keyCount, large.countLimit, large.costLimit) = (9_000, 6_000, 40_000)
      (large.calm, large.filling) = (2_000, 4_000)
      return large
    }
  }

  var testDescription: String {
    "\(policy.kind)\(isWeighted ? ", weighted" : ""); expire: \(expiry)"
  }

  func makeCache(_ clock: ManualClock) -> MemoryCache<Int, Int> {
    let time: TimeToLive = expiry == .all ? .after(.nanoseconds(timeToLive)) : .forever
    let idle: TimeToLive = expiry == .all ? .after(.nanoseconds(90)) : .forever
    guard isWeighted else {
      return MemoryCache(
        countLimit: countLimit, timeToLive: time, timeToIdle: idle, policy: policy, clock: clock)
    }
    return MemoryCache(
      costLimit: costLimit, countLimit: countLimit, timeToLive: time, timeToIdle: idle,
      policy: policy, clock: clock, cost: { $0 & 255 })
  }
}
