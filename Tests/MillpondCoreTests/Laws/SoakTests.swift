import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// An hour of everything, by a clock that a test moves.
@Suite(.heavy) struct SoakTests {
  @Test(arguments: 0..<UInt64(Effort.rounds(2, few: 1)))
  func `after an hour no flight, no slot and no byte is left over`(seed: UInt64) {
    let living = Locked(0)
    do {
      var soak = Soak(seed: seed, living)
      while soak.pond.clock.now.offset < .seconds(3_600) { soak.step() }
      #expect(soak.asked > 5_000 && soak.mostAtOnce == 3, "seed \(seed)")
      soak.letGo()
      expectNothing(in: soak.pond, seed)
      #expect(living.withLock { $0 } == 0, "seed \(seed)")
      expectFreeSlots(in: soak.pond, seed)
    }

    #expect(living.withLock { $0 } == 0, "seed \(seed)")
  }

  private func expectNothing(in pond: SoakPond, _ seed: UInt64) {
    #expect(pond.cache.flights.isEmpty, "seed \(seed)")
    #expect(pond.origin.activeRuns == 0, "seed \(seed)")
    #expect(pond.clock.pendingCount == 0, "seed \(seed)")
    #expect(pond.memory.totalCost == 0 && pond.memory.count == 0, "seed \(seed)")
    #expect(pond.disk.contents.isEmpty, "seed \(seed)")
  }

  private func expectFreeSlots(in pond: SoakPond, _ seed: UInt64) {
    let recorders = (1_000..<1_004).map { Recorder<Counted>().subscribe(to: pond.cache.get($0)) }

    #expect(pond.origin.activeRuns == 3, "seed \(seed)")
    pond.clock.run()
    #expect(recorders.allSatisfy { $0.end != nil }, "seed \(seed)")
    pond.cache.removeAll()
  }
}

/// A composition of all wrappers.
private struct SoakPond: Sendable {
  let clock: ManualClock
  let memory: MemoryCache<Int, Counted>
  let disk = TestCache<Int, Int>()
  let origin: SoakOrigin
  let scope = CacheScope()
  let monitor: CacheMonitor
  let cache: AnyCache<Int, Counted>

  init(seed: UInt64, _ living: Locked<Int>) {
    let clock = ManualClock()
    self.clock = clock
    memory = MemoryCache(costLimit: 500, clock: clock) { $0.number % 50 }
    origin = SoakOrigin(clock, living, seed: seed)
    monitor = CacheMonitor(clock: clock)
    // A number that ends in 7 can't be kept, one that ends in 9 can't be read.
    let codec = Codec<Int, Counted>(
      encode: { drop in
        if drop.number % 10 == 7 { throw Trouble() }
        return drop.number
      },
      decode: { number in
        if number % 10 == 9 { throw Trouble() }
        return Counted(number, living)
      })
    cache = AnyCache(
      memory.named("memory")
        .layered(
          over: disk.mapValues(codec).named("disk")
            .layered(over: origin.limited(to: 3).named("network"))
        )
        .reusingInFlight(clock: clock).monitored(by: monitor).scoped(to: scope))
  }
}

private struct Trouble: Error {}

/// An origin that takes its time by the clock, and fails and misses now and then; a failure is
/// tried again.
private final class SoakOrigin: Source {
  private struct State: Sendable {
    var generator: SeededGenerator
    var active: Set<Int> = []
    var lastNumber = 0
  }

  private let clock: ManualClock
  private let living: Locked<Int>
  private let state: Locked<State>

  init(_ clock: ManualClock, _ living: Locked<Int>, seed: UInt64) {
    self.clock = clock
    self.living = living
    state = Locked(State(generator: SeededGenerator(seed: seed)))
  }

  var activeRuns: Int {
    state.withLock { $0.active.count }
  }

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Counted> {
    attempt(key).retry(
      .backoff(attempts: 3, from: .seconds(1), upTo: .seconds(4), jitter: 0), clock: clock)
  }

  private func attempt(_ key: Int) -> Signal<Counted> {
    .create { observer, lifetime in
      let (number, chance, delay) = self.begin()
      lifetime.onEnd { self.finish(number) }
      let timer = self.clock.schedule(after: .milliseconds(delay)) {
        // Before the end is sent: that lets another one begin.
        self.finish(number)
        observer.progress(SignalProgress(completed: 1, total: 1))
        switch chance {
        case 0, 1: observer.failed(Trouble())
        case 2: observer.completed()
        default:
          observer.next(Counted(key * 100 + number % 100, self.living))
          observer.completed()
        }
      }
      lifetime.onEnd { timer.dispose() }
    }
  }

  private func finish(_ number: Int) {
    state.withLock { _ = $0.active.remove(number) }
  }

  private func begin() -> (number: Int, chance: Int, delay: Int) {
    state.withLock { state in
      state.lastNumber += 1
      state.active.insert(state.lastNumber)
      return (
        state.lastNumber, .random(in: 0..<10, using: &state.generator),
        .random(in: 0..<3_000, using: &state.generator)
      )
    }
  }
}

/// A caller that gets, leaves and writes at random.
private struct Soak {
  let pond: SoakPond
  private(set) var asked = 0
  private(set) var mostAtOnce = 0
  private let living: Locked<Int>
  private var generator: SeededGenerator
  private var asks: [Disposable] = []

  init(seed: UInt64, _ living: Locked<Int>) {
    self.living = living
    generator = SeededGenerator(seed: seed ^ 0xFEED)
    pond = SoakPond(seed: seed, living)
  }

  mutating func step() {
    defer { mostAtOnce = max(mostAtOnce, pond.origin.activeRuns) }
    let key = Int.random(in: 0..<40, using: &generator)
    switch Int.random(in: 0..<1_000, using: &generator) {
    case 0..<550: ask(key)
    case 550..<650: leave()
    case 650..<700:
      pond.cache.set(Counted(key * 100 + asked % 100, living), for: key)
    case 700..<730: pond.cache.remove(key)
    case 730..<732: pond.cache.removeAll()
    case 732: pond.scope.end()
    case 733..<760:
      pond.disk.failGets(of: key, with: Bool.random(using: &generator) ? Trouble() : nil)
    case 760..<790:
      pond.disk.failChanges(of: key, with: Bool.random(using: &generator) ? Trouble() : nil)
    default: pond.clock.advance(by: .milliseconds(Int.random(in: 0..<2_500, using: &generator)))
    }
  }

  private mutating func ask(_ key: Int) {
    let kinds: [Freshness] = [.any, .any, .any, .atMost(.seconds(20)), .cachedOnly, .reload]
    asked += 1
    let seconds = Int.random(in: 0..<20, using: &generator)
    asks.append(
      pond.cache.get(
        key, priority: Priority.allCases.randomElement(using: &generator) ?? .normal,
        freshness: kinds.randomElement(using: &generator) ?? .any,
        deadline: seconds < 10 ? .after(.seconds(seconds), clock: pond.clock) : nil
      ).subscribe(onNext: { drop in withExtendedLifetime(drop) {} }))
    if asks.count > 100 { asks.removeFirst(50) }
  }

  private mutating func leave() {
    guard !asks.isEmpty else { return }
    asks.remove(at: Int.random(in: 0..<asks.count, using: &generator)).dispose()
  }

  /// Disposes of half of the gets, lets the rest run to their end, and ends the scope.
  mutating func letGo() {
    for (number, ask) in asks.enumerated() where number.isMultiple(of: 2) { ask.dispose() }
    asks = []
    for key in 0..<40 {
      pond.disk.failGets(of: key, with: nil)
      pond.disk.failChanges(of: key, with: nil)
    }
    pond.clock.run()
    pond.scope.end()
  }
}
