import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// All ways to see a key, in the states of random histories with sign-outs.
@Suite struct SurfaceHistoryTests {
  @Test(arguments: 0..<3, 0..<UInt64(Effort.rounds(4, few: 2)))
  func `all ways to see a key agree, and after a sign-out none shows anything`(
    composition: Int, seed: UInt64
  ) {
    var history = SurfaceHistory(composition, seed: seed)

    for _ in 0..<400 where history.troubles.isEmpty { history.step() }

    #expect(history.troubles == [], "composition \(composition), seed \(seed)")
    #expect(history.user > 2, "seed \(seed)")
  }
}

/// A history on one thread; the values name the user at whose time they were asked for or set.
private struct SurfaceHistory {
  private(set) var troubles: [String] = []
  private(set) var user = 0
  private let clock = ManualClock()
  private let origin = TestOrigin<Int, String>()
  private let session = CacheScope()
  private let cache: any ObservableCache<Int, String>
  private let check: SurfaceCheck<Int, String>
  private var generator: SeededGenerator
  private var gets: [(user: Int, recorder: Recorder<String>)] = []
  private var states: [Recorder<ResourceState<String>>] = []
  private var observers: [(user: Int, recorder: Recorder<ResourceState<String>>)] = []

  /// The number of values so far, by which they differ.
  private var count = 0

  /// The users of the runs of each key.
  private var owners: [Int: [Int]] = [:]

  init(_ composition: Int, seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    let policy = FreshnessPolicy(
      freshFor: .after(.seconds(10)), usableFor: .after(.seconds(40)), stale: .atOnce)
    let memory = MemoryCache<Int, String>(countLimit: 4, clock: clock)
    cache =
      switch composition {
      case 0:
        MultiplexerMap(
          over: origin, countLimit: 4, freshness: policy,
          persistence: Persistence(MemoryCache<Int, String>(countLimit: 100, clock: clock)),
          scope: session,
          clock: clock)
      case 1: origin.remembered(in: memory.scoped(to: session), policy, clock: clock)
      default:
        origin.remembered(in: memory, policy, clock: clock).named("n").scoped(to: session)
          .monitored(by: CacheMonitor())
      }
    check = SurfaceCheck(cache)
  }

  mutating func step() {
    let key = Int.random(in: 0..<6, using: &generator)
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<25: gets.append((user, Recorder().subscribe(to: cache.get(key))))
    case 25..<45: answer(key)
    case 45..<50: origin[key].failed(Refused())
    case 50..<58: cache.set(value(of: user), for: key)
    case 58..<63: cache.remove(key)
    case 63: cache.removeAll()
    case 64: _ = cache.removeAll { $0 > 2 }
    case 65..<70: cache.markStale(key)
    case 70: cache.markAllStale()
    case 71..<77: clock.advance(by: .seconds(Int.random(in: 1..<30, using: &generator)))
    case 77..<82: cache.refresh(key)
    case 82..<88: states.append(Recorder().subscribe(to: cache.states(of: key)))
    case 88..<96:
      observers.append((user, Recorder().subscribe(to: cache.observe(key))))
    default: end()
    }
    for key in 0..<6 {
      let missing = origin[key].runs.count - owners[key, default: []].count
      owners[key, default: []] += Array(repeating: user, count: missing)
    }
    look(at: key)
  }

  private mutating func value(of user: Int) -> String {
    count += 1
    return "\(user) \(count)"
  }

  private mutating func answer(_ key: Int) {
    for (run, owner) in zip(origin[key].runs, owners[key, default: []]) {
      run.next(value(of: owner))
      run.completed()
    }
  }

  private mutating func end() {
    let done = Recorder<Void>().subscribe(to: session.end())
    if !done.isCompleted { troubles.append("the end did not succeed: \(done.transcript)") }
    troubles += check.traces(of: 0..<6)
    troubles += states.compactMap { $0.values.last?.value }.map { "a state shows \($0)" }
    let ends = gets.map { $0.recorder.end } + observers.map { $0.recorder.end }
    if ends.contains(where: { $0 == nil }) { troubles.append("a get or an observer goes on") }
    user += 1
  }

  private mutating func look(at key: Int) {
    troubles += check.disagreements(about: key)
    let own = "\(user) "
    for state in states {
      guard let value = state.values.last?.value, !value.hasPrefix(own) else { continue }
      troubles.append("a state shows \(value) to user \(user)")
    }
    for (user, recorder) in gets {
      troubles += recorder.values.filter { !$0.hasPrefix("\(user) ") }.map { "\($0) for \(user)" }
    }
    for (user, recorder) in observers {
      troubles += recorder.values.compactMap(\.value).filter { !$0.hasPrefix("\(user) ") }
        .map { "\($0) is shown to \(user)" }
    }
  }
}
