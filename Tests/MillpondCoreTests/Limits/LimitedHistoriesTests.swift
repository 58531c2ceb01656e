import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// "Capped requests, and then everything hangs for ever": every way out of a slot gives it back.
@Suite(.heavy) struct LimitedHistoriesTests {
  struct Trouble: Error {}

  enum WayOut: CaseIterable {
    case value, values, completion, failure, failureAfterValue, leaving, leavingInCallback
    case leavingWhileWaiting, synchronousValue, synchronousMiss, synchronousFailure, firstValueOnly
    case timeout
  }

  @Test(arguments: WayOut.allCases)
  func `every way to leave a limited get frees its slot`(way: WayOut) {
    let scene = Scene(limit: 2)
    for key in 0..<6 { scene.leave(key, by: way) }

    scene.expectAllSlotsFree()
  }

  @Test func `work that asks again inside its slot, of which there is one, is served`() {
    let origin = TestOrigin<Int, Int>()
    let outer = Outer()
    let cache = Recursive(origin: origin, outer: outer).limited(to: 1)
    outer.ask = { cache.get($0) }

    let recorder = Recorder<Int>().subscribe(to: cache.get(3))
    origin[0].next(1)
    origin[0].completed()

    #expect(recorder.transcript == ["next 4", "completed"])
    let fresh = Recorder<Int>().subscribe(to: cache.get(0))
    origin[0].next(7)
    #expect(fresh.values == [7])
  }

  /// A source that answers `n` with a get of `n - 1` through its own limit.
  struct Recursive: Source {
    let origin: TestOrigin<Int, Int>
    let outer: Outer

    func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
      key == 0 ? origin.get(key, lookup) : .deferred { outer.ask(key - 1).map { $0 + 1 } }
    }
  }

  /// Sendable because the test sets it before the first get.
  final class Outer: @unchecked Sendable {
    var ask: @Sendable (Int) -> Signal<Int> = { _ in .empty }
  }

  @Test func `work that asks again after a pause does not wait for its own slot`() {
    let origin = TestOrigin<Int, Int>()
    let clock = ManualClock()
    let outer = Outer()
    let cache = Recursive(origin: origin, outer: outer).limited(to: 1)
    let policy = RetryPolicy.backoff(attempts: 2, from: .seconds(1), upTo: .seconds(1))
    outer.ask = { cache.retrying(policy, clock: clock).get($0) }

    let recorder = Recorder<Int>().subscribe(to: cache.get(1))
    origin[0].failed(Trouble())
    clock.advance(by: .seconds(1))
    origin[0].next(1)
    origin[0].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
  }

  @Test func `work whose alternative is asked later does not wait for its own slot`() {
    let origin = TestOrigin<Int, Int>()
    let silent = TestOrigin<Int, Int>()
    let clock = ManualClock()
    let outer = Outer()
    let cache = Recursive(origin: origin, outer: outer).limited(to: 1)
    outer.ask = { key in
      silent.hedged(with: cache, after: .seconds(1), clock: clock).get(key)
    }

    let recorder = Recorder<Int>().subscribe(to: cache.get(1))
    clock.advance(by: .seconds(1))
    origin[0].next(1)
    origin[0].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
  }

  @Test func `random histories leave every slot free`() {
    for seed in 0..<Effort.rounds(1_000, few: 300) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let scene = Scene(
        limit: Int.random(in: 1...3, using: &generator),
        reserved: Int.random(in: 0...2, using: &generator))
      for _ in 0..<30 { scene.step(using: &generator) }
      scene.expectAllSlotsFree()
    }
  }
}

/// A limit over an origin and over a source that answers at once, with its callers.
final class Scene: @unchecked Sendable {
  // Sendable because one thread plays it.
  let origin = TestOrigin<Int, Int>()
  let clock = ManualClock()
  let limit: Int
  let cache: InFlightReuse<Governed<AnyCache<Int, Int>>>
  let limited: Governed<AnyCache<Int, Int>>
  var recorders: [(key: Int, recorder: Recorder<Int>)] = []
  var lastKey = 100

  init(limit: Int, reserved: Int = 0) {
    self.limit = limit
    let origin = origin
    let source = AnyCache<Int, Int>(
      get: { key in
        switch key {
        case -1: .just(1)
        case -2: .empty
        case -3: .fail(LimitedHistoriesTests.Trouble())
        default: origin.get(key)
        }
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) }
    )
    // One thread plays it, and nothing runs in the background.
    limited = source.limited(
      by: ConcurrencyLimiter(limit, reserved: reserved, inBackground: { $0() }))
    cache = limited.reusingInFlight()
  }

  @discardableResult
  func ask(_ key: Int, _ priority: Priority = .normal) -> Recorder<Int> {
    let recorder = Recorder<Int>().subscribe(to: cache.get(key, priority: priority))
    recorders.append((key, recorder))
    return recorder
  }

  func leave(_ key: Int, by way: LimitedHistoriesTests.WayOut) {
    let recorder = Recorder<Int>()
    switch way {
    case .synchronousValue: ask(-1)
    case .synchronousMiss: ask(-2)
    case .synchronousFailure: ask(-3)
    case .leavingInCallback:
      recorder.subscribe(to: limited.get(key)) { _ in recorder.dispose() }
      origin[key].next(1)
    case .firstValueOnly:
      recorder.subscribe(to: limited.get(key).take(1))
      origin[key].next(1)
    case .timeout:
      recorder.subscribe(
        to: limited.get(key, deadline: .after(.seconds(1), clock: clock)))
      clock.advance(by: .seconds(1))
    case .leavingWhileWaiting:
      let holders = (0..<limit).map { ask(1_000 + $0) }
      ask(key).dispose()
      for holder in holders { holder.dispose() }
    default:
      ask(key)
      finish(key, by: way)
    }
  }

  private func finish(_ key: Int, by way: LimitedHistoriesTests.WayOut) {
    switch way {
    case .value, .values, .failureAfterValue:
      origin[key].next(1)
      if way == .values { origin[key].next(2) }
      if way == .failureAfterValue {
        origin[key].failed(LimitedHistoriesTests.Trouble())
      } else {
        origin[key].completed()
      }
    case .failure: origin[key].failed(LimitedHistoriesTests.Trouble())
    case .leaving: recorders.last?.recorder.dispose()
    default: origin[key].completed()
    }
  }

  func step(using generator: inout SeededGenerator) {
    let key = Int.random(in: -3..<8, using: &generator)
    let priority = Priority.allCases[Int.random(in: 0..<3, using: &generator)]
    switch Int.random(in: 0..<12, using: &generator) {
    case 0..<5: ask(key, priority)
    case 5: origin[key].next(1)
    case 6, 7: origin[key].completed()
    case 8: origin[key].failed(LimitedHistoriesTests.Trouble())
    case 9: cache.remove(key)
    case 10: cache.removeAll()
    default: recorders.randomElement(using: &generator)?.recorder.dispose()
    }
  }

  /// Ends all running and waiting work, and checks that every slot can be used.
  func expectAllSlotsFree() {
    for (_, recorder) in recorders { recorder.dispose() }
    let keys = (0..<limit + 1).map { lastKey + $0 }
    lastKey += limit + 1
    let fresh = keys.map { ask($0) }
    #expect(keys.map { origin[$0].subscriptions } == Array(repeating: 1, count: limit) + [0])
    for key in keys {
      origin[key].next(key)
      origin[key].completed()
    }
    #expect(zip(keys, fresh).allSatisfy { $1.values == [$0] && $1.isCompleted })
  }
}
