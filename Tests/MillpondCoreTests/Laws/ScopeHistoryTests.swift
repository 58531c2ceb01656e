import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Sign-outs during a hundred gets.
@Suite(.heavy) struct ScopeHistoryTests {
  @Test(arguments: 0..<UInt64(Effort.rounds(10, few: 4)))
  func `a get after the end of its scope never returns the former user's value`(seed: UInt64) {
    var history = ScopeHistory(seed: seed)

    for _ in 0..<2_000 { history.step() }
    history.close()

    #expect(history.troubles.isEmpty, "seed \(seed)")
    #expect(history.mostAtAnEnd >= 100, "seed \(seed)")
  }

  @Test(arguments: 0..<4)
  func `a get on any of four threads never returns the former user's value after the end`(
    seed: UInt64
  ) async throws {
    let pond = ScopedPond()
    let users = Users()
    let troubles = Locked<[String]>([])
    let asks = Locked<[Recorder<Owned>]>([])

    try await onThreads(4) { thread in
      var generator = SeededGenerator(seed: seed * 4 + UInt64(thread))
      var mine: [Recorder<Owned>] = []
      for round in 0..<600 {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<12:
          let (floor, key) = (users.floor, Int.random(in: 0..<150, using: &generator))
          let recorder = Recorder<Owned>()
          mine.append(recorder)
          recorder.subscribe(to: pond.cache.get(key)) { event in
            guard case .next(let value) = event, value.user < floor else { return }
            troubles.withLock { $0.append("\(value) for one who asked as \(floor)") }
          }
        case 12..<17: pond.origin.answer(Int.random(in: 0..<1_000, using: &generator))
        case 17, 18:
          if !mine.isEmpty { mine[Int.random(in: 0..<mine.count, using: &generator)].dispose() }
        default:
          guard thread == 0, round.isMultiple(of: 5) else { continue }
          let former = users.next { pond.origin.user = $0 }
          pond.scope.end()
          users.hasLeft(former)
        }
      }
      asks.withLock { [mine] in $0 += mine }
    }
    _ = pond.scope.end() as Signal<Void>
    pond.origin.answerAll()

    #expect(troubles.withLock { $0 } == [], "seed \(seed)")
    #expect(asks.withLock { $0 }.allSatisfy { $0.violations.isEmpty }, "seed \(seed)")
    #expect(pond.isEmpty, "seed \(seed)")
    #expect(pond.cache.flights.isEmpty && pond.origin.activeRuns == 0, "seed \(seed)")
  }
}

/// A value and its user, who is known by the number of the session.
private struct Owned: Sendable, Equatable {
  let user: Int
  let key: Int
}

/// Memory over a disk over an origin, for the present user.
private final class ScopedPond: Sendable {
  let origin = OwnedOrigin()
  let memory = MemoryCache<Int, Owned>(countLimit: 60)
  let disk = TestCache<Int, Owned>()
  let scope = CacheScope()

  /// The cache behind the scope.
  let inner: AnyCache<Int, Owned>
  let cache: Scoped<AnyCache<Int, Owned>>

  init() {
    inner = AnyCache(memory.layered(over: disk.layered(over: origin)).reusingInFlight())
    cache = inner.scoped(to: scope)
  }

  var isEmpty: Bool {
    memory.count == 0 && disk.contents.isEmpty
  }
}

/// A source that answers on demand with a value of the user at the time of the get.
private final class OwnedOrigin: Source {
  private struct State: Sendable {
    var user = 0
    var runs: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())

  var user: Int {
    get { state.withLock { $0.user } }
    set { state.withLock { $0.user = newValue } }
  }

  var activeRuns: Int {
    state.withLock { $0.runs.count }
  }

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Owned> {
    .create { observer, lifetime in
      let number = self.state.withLock { state in
        let value = Owned(user: state.user, key: key)
        state.lastNumber += 1
        state.runs[state.lastNumber] = {
          observer.next(value)
          observer.completed()
        }
        return state.lastNumber
      }
      lifetime.onEnd {
        let gone = self.state.withLock { $0.runs.removeValue(forKey: number) }
        _ = gone
      }
    }
  }

  /// Answers one of the runs.
  func answer(_ pick: Int) {
    let run = state.withLock { state in
      state.runs.isEmpty
        ? nil : state.runs.removeValue(forKey: state.runs.keys.sorted()[pick % state.runs.count])
    }
    run?()
  }

  func answerAll() {
    while activeRuns > 0 { answer(0) }
  }
}

/// A random history on one thread, so that a seed determines everything.
private struct ScopeHistory {
  let pond = ScopedPond()
  private(set) var troubles: [String] = []
  private(set) var mostAtAnEnd = 0
  private var generator: SeededGenerator
  private var user = 0
  private var asks: [(user: Int, recorder: Recorder<Owned>)] = []
  private var waiting: [Recorder<Owned>] = []

  /// The callers that bypass the scope, so that flights go on beyond its end.
  private var others: [Recorder<Owned>] = []

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func step() {
    let key = Int.random(in: 0..<300, using: &generator)
    switch Int.random(in: 0..<500, using: &generator) {
    case 0..<320: ask(key)
    case 320..<380: others.append(Recorder().subscribe(to: pond.inner.get(key)))
    case 380..<430: pond.origin.answer(key)
    case 430..<445: leave()
    case 445..<480: pond.cache.set(Owned(user: user, key: key), for: key)
    case 480..<498: pond.cache.remove(key)
    default: end()
    }
  }

  mutating func close() {
    end()
    pond.origin.answerAll()
    if !pond.isEmpty { troubles.append("something was stored after the last end") }
    if !pond.cache.flights.isEmpty { troubles.append("a flight is left") }
    for (user, recorder) in asks {
      troubles += recorder.violations.map { "\($0)" }
      troubles += recorder.values.filter { $0.user != user }.map { "\($0) for user \(user)" }
    }
  }

  private mutating func ask(_ key: Int) {
    let freshness: [Freshness] = [.any, .any, .any, .cachedOnly, .reload]
    let kind = Int.random(in: 0..<freshness.count, using: &generator)
    let recorder = Recorder<Owned>().subscribe(
      to: pond.cache.get(key, freshness: freshness[kind]))
    asks.append((user, recorder))
    waiting.append(recorder)
  }

  private mutating func leave() {
    guard !waiting.isEmpty else { return }
    waiting.remove(at: Int.random(in: 0..<waiting.count, using: &generator)).dispose()
  }

  private mutating func end() {
    mostAtAnEnd = max(mostAtAnEnd, pond.cache.flights.count)
    let waiting = waiting.filter { $0.end == nil }
    self.waiting = []
    pond.scope.end()
    user += 1
    pond.origin.user = user
    let failed = waiting.count { recorder in
      if case CacheError.scopeEnded? = recorder.failure { true } else { false }
    }
    if failed < waiting.count { troubles.append("\(waiting.count - failed) still wait") }
    if !pond.isEmpty { troubles.append("something of user \(user - 1) is left") }
  }
}

/// The present user, and the former ones whose values must not appear any more.
private final class Users: Sendable {
  private let state = Locked((current: 0, floor: 0))

  /// The first user whose values may appear in new gets.
  var floor: Int {
    state.withLock { $0.floor }
  }

  /// Signs the next user in, and returns the former one.
  func next(_ signOut: (Int) -> Void) -> Int {
    let new = state.withLock { state in
      state.current += 1
      return state.current
    }
    signOut(new)
    return new - 1
  }

  /// The scope of the user has ended.
  func hasLeft(_ user: Int) {
    state.withLock { $0.floor = max($0.floor, user + 1) }
  }
}

/// Runs `body` on `count` threads of their own, and waits for all of them.
private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
  let done = Watched(0)
  for index in 0..<count {
    DispatchQueue(label: "a thread").async {
      body(index)
      done.change { $0 += 1 }
    }
  }
  try await done.wait(for: "\(count) threads") { $0 == count }
}
