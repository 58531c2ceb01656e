import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The orderly end of one composition.
@Suite struct ShutDownTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 10)
  let store = ClosableStore()
  let cache:
    InFlightReuse<
      Layered<MemoryCache<String, Int>, Layered<ClosableStore, Governed<TestOrigin<String, Int>>>>
    >

  init() {
    cache =
      memory.layered(over: store.layered(over: origin.stoppable())).reusingInFlight()
  }

  private func ask(_ key: String) -> Recorder<Int> {
    Recorder().subscribe(to: cache.get(key))
  }

  private func shutDown(after seconds: Int = 8) -> Recorder<Void> {
    Recorder().subscribe(to: cache.shutDown(deadline: .after(.seconds(seconds), clock: clock)))
  }

  @Test func `nothing new is fetched, and hits still answer`() {
    memory.set(1, for: "a")

    let end = shutDown()

    #expect(end.isCompleted)
    #expect(ask("a").values == [1])
    #expect(isOfShutDown(ask("b").failure))
    #expect(origin["b"].subscriptions == 0)
  }

  @Test func `running fetches are awaited, and their values are flushed before files are closed`() {
    let caller = ask("a")

    let end = shutDown()
    #expect(store.log == [])
    #expect(end.end == nil)
    origin["a"].next(1)
    origin["a"].completed()

    #expect(caller.values == [1])
    #expect(store.log == ["flush", "close"])
    #expect(end.isCompleted)
  }

  @Test func `running fetches are cancelled at half of the time, and the other steps follow`() {
    let caller = ask("a")
    let end = shutDown(after: 8)

    clock.advance(by: .seconds(3))
    #expect(caller.end == nil)
    clock.advance(by: .seconds(1))

    #expect(isOfShutDown(caller.failure))
    #expect(origin["a"].disposals == 1)
    #expect(store.log == ["flush", "close"])
    #expect(end.isCompleted)
  }

  @Test
  func `a fetch that ignores its cancellation holds nothing up, and its late value goes nowhere`() {
    let impolite = CallbackSource<Int>()
    let cache = memory.layered(over: Piped(signal: impolite.signal).stoppable())
    let caller = Recorder<Int>().subscribe(to: cache.get("a"))
    let end = Recorder<Void>().subscribe(
      to: cache.shutDown(deadline: .after(.seconds(8), clock: clock)))

    clock.advance(by: .seconds(4))
    impolite.next(7)

    #expect(end.isCompleted)
    #expect(caller.values.isEmpty)
    #expect(caller.violations.isEmpty)
    #expect(memory.now("a", Lookup()) == nil)
  }

  @Test func `a flush that never ends is named at the deadline, and files are closed before it`()
    throws
  {
    store.hangs.withLock { $0 = true }
    let end = shutDown(after: 8)

    clock.advance(by: .seconds(4))
    #expect(store.log == ["flush", "close"])
    #expect(end.isCompleted == false)
    clock.advance(by: .seconds(4))

    let failure = try #require(end.failure as? CacheError)
    guard case .unfinished(let steps, _) = failure else { throw failure }
    #expect(steps == ["flush of layered"])
  }

  @Test func `the failure of a flush is reported after everything is done`() {
    store.failure.withLock { $0 = Refused() }

    let end = shutDown()

    #expect(failedSteps(end.failure) == ["flush of \(cache.topology(for: nil).label)"])
    #expect(store.log == ["flush", "close"])
  }

  @Test func `progress counts the steps`() {
    let caller = ask("a")
    let end = shutDown()
    origin["a"].next(1)
    origin["a"].completed()

    #expect(end.progress.map(\.completed).max() == 3)
    #expect(end.progress.allSatisfy { $0.total == 3 })
    withExtendedLifetime(caller) {}
  }

  @Test(arguments: [0, -5])
  func `without time everything is begun at once`(seconds: Int) {
    let caller = ask("a")
    let end = shutDown(after: seconds)
    clock.run()

    #expect(caller.end != nil)
    #expect(store.log == ["flush", "close"])
    #expect(end.end != nil)
  }

  @Test func `it runs, with any number of listeners, and stops a source for each of its users`() {
    let source = origin.stoppable()
    let other = MemoryCache<String, Int>(countLimit: 1).layered(over: source)

    memory.layered(over: source).shutDown(deadline: .after(.seconds(1), clock: clock))

    #expect(Recorder().subscribe(to: other.get("a")).failure is CacheError)
  }

  @Test func `a cache that was stopped answers nothing, not even immediately`() {
    memory.set(1, for: "a")
    let stopped = memory.stoppable()

    stopped.shutDown(deadline: .after(.seconds(1), clock: clock))

    #expect(stopped.now("a", Lookup()) == nil)
    #expect(isOfShutDown(Recorder().subscribe(to: stopped.get("a")).failure))
  }

  @Test func `a composition of nothing that can be stopped is done at once`() async throws {
    try await memory.shutDown(deadline: .after(.seconds(1))).value
  }

  @Test func `gets and a shutdown at once leave no get without an end`() async throws {
    for _ in 0..<50 {
      let origin = TestOrigin<Int, Int>()
      let source = origin.stoppable()
      let recorders = (0..<8).map { _ in Recorder<Int>() }
      await withTaskGroup(of: Void.self) { group in
        for (number, recorder) in recorders.enumerated() {
          group.addTask { _ = recorder.subscribe(to: source.get(number)) }
        }
        group.addTask { [clock] in source.shutDown(deadline: .after(.zero, clock: clock)) }
      }
      clock.run()
      for recorder in recorders {
        #expect(recorder.failure is CacheError)
        #expect(recorder.violations.isEmpty)
      }
    }
  }
}

/// The end of all members of a repository.
@Suite struct RepositoryShutDownTests {
  let clock = ManualClock()
  let repository = Repository()
  let source = TestSource<Int>()

  private func shutDown(after seconds: Int = 8) -> Recorder<Void> {
    Recorder().subscribe(
      to: repository.shutDown(deadline: .after(.seconds(seconds), clock: clock)))
  }

  private func member(_ name: String, _ log: Locked<[String]>) -> RepositoryMember {
    let note = { @Sendable (step: String) -> Signal<Void> in
      log.withLock { $0.append("\(step) \(name)") }
      return .just(())
    }
    return RepositoryMember(
      flush: { note("flush") }, stop: { _ in note("stop") }, close: { note("close") })
  }

  @Test func `each step is taken by all members before the next one`() throws {
    let log = Locked<[String]>([])
    for name in ["a", "b"] { try repository.add(member(name, log), named: name) }

    let end = shutDown()

    #expect(
      log.withLock { $0 } == ["stop a", "stop b", "flush a", "flush b", "close a", "close b"])
    #expect(end.isCompleted)
  }

  @Test func `a multiplexer fetches no more, and a value in memory still answers`() throws {
    let source = source
    let one = Multiplexer(clock: clock, signal: { source.signal })
    let other = Multiplexer(clock: clock, signal: { source.signal })
    try repository.add(one, named: "one")
    try repository.add(other, named: "other")
    one.set(1)

    let end = shutDown()
    let refused = Recorder<Int>().subscribe(to: other.get())

    #expect(end.isCompleted)
    #expect(Recorder().subscribe(to: one.get()).values == [1])
    #expect(isOfShutDown(refused.failure))
    #expect(Recorder().subscribe(to: one.refresh()).failure is CacheError)
    #expect(source.subscriptions == 0)
  }

  @Test func `a refresh without a caller is waited for, and cancelled when its time is over`()
    throws
  {
    let source = source
    let one = Multiplexer(clock: clock, signal: { source.signal })
    try repository.add(one, named: "one")
    one.refresh()

    let end = shutDown(after: 8)
    #expect(end.end == nil)
    clock.advance(by: .seconds(4))

    #expect(source.disposals == 1)
    #expect(end.isCompleted)
  }

  @Test func `members that hang or fail stop no other one, and are named`() throws {
    let log = Locked<[String]>([])
    try repository.add(RepositoryMember(stop: { _ in .never }), named: "deaf")
    try repository.add(RepositoryMember(flush: { .fail(Refused()) }), named: "full")
    try repository.add(RepositoryMember(close: { .never }), named: "stuck")
    try repository.add(member("good", log), named: "good")

    let end = shutDown(after: 8)
    clock.advance(by: .seconds(8))

    let failure = try #require(end.failure as? CacheError)
    guard case .unfinished(let steps, let first) = failure else { throw failure }
    #expect(steps == ["stop of deaf", "close of stuck"])
    #expect(failedSteps(first) == ["flush of full"])
    #expect(log.withLock { $0 } == ["stop good", "flush good", "close good"])
  }

  @Test func `a second call is the same end, and takes no member any more`() throws {
    let log = Locked<[String]>([])
    try repository.add(member("a", log), named: "a")

    let ends = [shutDown(), shutDown()]

    #expect(ends.allSatisfy { $0.isCompleted })
    #expect(log.withLock { $0.count } == 3)
    #expect(throws: CacheError.self) { try repository.add(member("b", log), named: "b") }
  }
}

private func isOfShutDown(_ error: (any Error)?) -> Bool {
  if case .shutDown? = error as? CacheError { true } else { false }
}

/// Returns the failed steps that an error names; nil if it is another error.
func failedSteps(_ error: (any Error)?) -> [String]? {
  guard case CacheError.stepsFailed(let failures)? = error else { return nil }
  return failures.map(\.step)
}

/// A store that misses, and logs its flush and its close.
final class ClosableStore: Cache {
  let hangs = Locked(false)
  let failure = Locked<(any Error)?>(nil)
  private let entries = Locked<[String]>([])

  var log: [String] { entries.withLock { $0 } }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }

  func topology(for key: String?) -> Topology {
    Topology(
      .store, "store",
      flush: { [self] _ in
        entries.withLock { $0.append("flush") }
        if hangs.withLock({ $0 }) { return .never }
        return failure.withLock { $0 }.map { .fail($0) } ?? .just(())
      },
      close: { [entries] in
        entries.withLock { $0.append("close") }
        return .just(())
      })
  }
}

private struct Piped: Source {
  let signal: Signal<Int>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { signal }
}
