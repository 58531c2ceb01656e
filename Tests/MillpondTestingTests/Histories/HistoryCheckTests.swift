import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import RandomHistories
import TestTraits
import Testing

/// Compositions that are broken on purpose, each in one way.
@Suite(.heavy) struct HistoryCheckTests {
  private func check(
    mix: HistoryStepMix = .general, timeLimit: Duration = .milliseconds(50),
    _ compose: @escaping @Sendable (HistoryScene<String, Int>) -> some Cache<String, Int>
  ) -> HistoryCheck<String, Int> {
    HistoryCheck(
      key: { "k\($0)" }, value: { _, number in number }, mix: mix, timeLimit: timeLimit,
      composing: compose)
  }

  /// Whether one of some programs breaks the rule.
  private func finds(_ rule: HistoryRule, _ check: HistoryCheck<String, Int>) async -> Bool {
    for seed in UInt64(0)..<60 {
      if await check.failures(seeds: seed..<seed + 1).contains(where: { $0.law == rule }) {
        return true
      }
    }
    return false
  }

  /// Returns the rules that a few programs break.
  private func rules(_ check: HistoryCheck<String, Int>) async -> [HistoryRule] {
    await check.failures(seeds: 0..<20).map(\.law)
  }

  @Test(arguments: [(1, false), (3, false), (1, true), (3, true)])
  func `a composition that keeps its promises passes`(threads: Int, underLock: Bool) async {
    let failures = await check(timeLimit: .seconds(1)) { scene in
      MemoryCache(countLimit: 1_000, clock: scene.clock).layered(over: scene.origin)
        .reusingInFlight(clock: scene.clock)
    }.failures(seeds: 0..<60, threads: threads, underLock: underLock)

    #expect(failures.isEmpty, "\(failures.map(\.description).joined(separator: "\n"))")
  }

  @Test func `a cache that does not remove is detected`() async {
    let isFound = await finds(.current, check { _ in BrokenCache(.forgetsNothing) })

    #expect(isFound)
  }

  @Test func `a cache that never ends its gets is detected`() async {
    let isFound = await finds(.ended, check { _ in BrokenCache(.neverCompletes) })

    #expect(isFound)
  }

  @Test func `a cache that loses a set is detected`() async {
    let rules = await rules(check { _ in MemoryCache<String, Int>(countLimit: 1) })

    #expect(rules == [.kept])
  }

  @Test func `a miss where values may be forgotten is no failure`() async {
    let rules = await rules(
      check { scene in
        scene.mayForget = true
        return MemoryCache<String, Int>(countLimit: 1)
      })

    #expect(rules.isEmpty)
  }

  @Test func `a cache that gives one key's value for another is detected`() async {
    let isFound = await finds(
      .made, check { _ in MemoryCache<String, Int>(countLimit: 100).mapKeys { _ in "all" } })

    #expect(isFound)
  }

  @Test func `a get that does not end with its scope, and fetches afterwards, is detected`() async {
    let isFound = await finds(
      .parted,
      check { scene in
        scene.isScoped = true
        scene.signOuts.append {}
        return AnyCache(scene.origin.retrying(.immediate(attempts: 2)))
      })

    #expect(isFound)
  }

  @Test func `a state that shows what is not kept is detected`() async {
    let isFound = await finds(
      .shown,
      check { scene in
        let shown = PublishSubject<Int?>()
        scene.states = { _ in shown.signal }
        return MemoryCache<String, Int>(countLimit: 100).layered(over: scene.origin)
          .postProcessed { _, value in
            shown.next(value)
            return value
          }
      })

    #expect(isFound)
  }

  @Test func `a cache that calls observers under its lock is detected`() async {
    let failures = await check { LockingCache($0.origin) }.failures(
      seeds: 0..<1_000, threads: 3, underLock: true)

    #expect(failures.map(\.law).contains(.returned))
  }

  @Test func `a fetch that waits for itself is detected`() async {
    let isFound = await finds(
      .ended, check(mix: .askingBack) { AnyCache(NaiveFlights($0.origin)) })

    #expect(isFound)
  }

  @Test(arguments: [true, false])
  func `a state that never shows what is kept is detected`(saysSo: Bool) async {
    let rules = await rules(
      check { scene in
        scene.states = { _ in saysSo ? Signal.just(nil).concat(.never) : .never }
        return MemoryCache<String, Int>(countLimit: 100)
      })

    #expect(rules == [.shown])
  }

  @Test func `a failure lists the shortest program, step by step, and what was wrong`() async {
    let check = check { _ in BrokenCache(.forgetsNothing) }
    var failure: Breach<HistoryRule>?
    // All callers leave at the end of an even program; and the shortest program may be about any
    // key.
    for seed in stride(from: UInt64(0), to: 400, by: 2) where failure?.steps.first != "set k0 = 0" {
      failure = await check.failures(seeds: seed..<seed + 1).first { $0.law == .current }
    }

    #expect(
      failure?.description == """
        the law current is broken, seed \(failure?.seed ?? 0):
          set k0 = 0
          remove k0
          all callers leave
          all keys are looked up
               look 1 of k0, cachedOnly gets 0
          a day passes
        look 1 of k0, cachedOnly gave 0, though “remove k0” came after its set
        """)
  }
}

/// A cache that holds a lock while it answers, and while it is written.
private struct LockingCache<Base: Source<String, Int>>: Cache {
  let base: Base
  private let inner = TestCache<String, Int>()
  private let lock = DispatchSemaphore(value: 1)

  init(_ base: Base) {
    self.base = base
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    let answer = inner.layered(over: base).get(key, lookup)
    return Signal { observer, lifetime in
      answer.run(
        observer.replacingNext { value in
          lock.wait()
          observer.next(value)
          lock.signal()
        }, lifetime)
    }
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    lock.wait()
    defer { lock.signal() }
    return inner.apply(change)
  }
}

/// A source that shares the run of a key with later callers, its own fetch included.
private final class NaiveFlights<Base: Source<String, Int>>: Source {
  private let base: Base
  private let flights = Locked<[String: Signal<Int>]>([:])

  init(_ base: Base) {
    self.base = base
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    .deferred {
      let new = self.base.get(key, lookup).onEnd { _ in
        self.flights.withLock { $0[key] = nil }
      }.replayLast()
      return self.flights.withLock { flights in
        let flight = flights[key] ?? new
        flights[key] = flight
        return flight
      }
    }
  }
}
