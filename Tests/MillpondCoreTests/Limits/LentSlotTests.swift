@testable import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// A limit holds, whatever gets the work in its slots starts and leaves behind.
@Suite struct LentSlotTests {
  typealias Ask = @Sendable (Int) -> Signal<Int>

  /// A source that runs a recipe for keys below 100, which may get from the whole; the origin
  /// answers the others.
  struct Work: Source {
    let origin = TestOrigin<Int, Int>()
    let whole = Locked<AnyCache<Int, Int>?>(nil)
    let recipe: @Sendable (Int, Ask) -> Signal<Int>

    func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
      if key >= 100 { return origin.get(key, lookup) }
      let whole = whole
      return .deferred { recipe(key) { whole.withLock { $0 }?.get($0) ?? .empty } }
    }

    /// Lets the recipes get from `cache`.
    func made(_ cache: AnyCache<Int, Int>) -> AnyCache<Int, Int> {
      whole.withLock { $0 = cache }
      return cache
    }

    func runs(_ keys: some Sequence<Int>) -> Int {
      keys.reduce(0) { $0 + origin[$1].activeRuns }
    }
  }

  /// Opens once.
  struct Door: Sendable {
    let signal: Signal<Void>
    let subject = PublishSubject<Void>()

    init() {
      signal = subject.signal.replayLast(.keepRunning)
      signal.subscribe()
    }

    func open() {
      subject.next(())
      subject.completed()
    }
  }

  @Test func `tasks that outlive their fetches wait for a slot like other work`() async throws {
    let door = Door()
    let asked = Recorder<Int>()
    let asks = PublishSubject<Int>()
    asked.subscribe(to: asks.signal)
    let work = Work { key, ask in
      let later = ask(key + 100)
      return .async {
        Task {
          _ = try await door.signal.value
          later.subscribe()
          asks.next(key)
        }
        return key
      }
    }
    let cache = work.made(AnyCache(work.limited(to: 1)))
    for key in 0..<5 { _ = try await cache.get(key).value }

    door.open()
    _ = try await asked.values(count: 5)

    #expect(work.runs(100..<105) == 1)
  }

  @Test func `a slot that was lent when its holder ended is in use`() async throws {
    let door = Door()
    let work = Work { key, ask in
      let inner = ask(key + 100)
      return .async {
        Task { _ = try? await inner.value }
        _ = try await door.signal.value
        return key
      }
    }
    let cache = work.made(AnyCache(work.limited(to: 1)))
    let outer = Recorder<Int>().subscribe(to: cache.get(0))
    try await work.origin[100].subscriptions(count: 1)

    door.open()
    _ = try await outer.ended()
    cache.get(200).subscribe()
    #expect(work.runs([100, 200]) == 1)

    work.origin[100].next(1)
    work.origin[100].completed()
    // In the background: the task that awaited the value has left.
    try await work.origin[200].subscriptions(count: 1)
  }

  @Test func `work that goes on beside what it prefetches keeps its slot`() {
    let own = TestOrigin<Int, Int>()
    let work = Work { key, ask in
      ask(100 + key).subscribe()
      return own.get(key)
    }
    let cache = work.made(AnyCache(work.limited(to: 2)))

    cache.get(300).subscribe()
    cache.get(0).subscribe()
    #expect(own[0].activeRuns == 1 && work.runs([300, 100]) == 1)

    work.origin[300].completed()
    #expect(work.runs([100]) == 1)
  }

  @Test func `work that passes on what it subscribes to is served, though all slots are taken`() {
    let work = Work { key, ask in
      if key == 0 { return .just(0) }
      let inner = ask(key - 1)
      return .create { observer, lifetime in
        let handle = inner.subscribe(
          onNext: { observer.next($0 + 1) }, onCompleted: { observer.completed() })
        lifetime.onEnd { handle.dispose() }
      }
    }
    let cache = work.made(AnyCache(work.limited(to: 1)))

    let recorder = Recorder<Int>().subscribe(to: cache.get(20))

    #expect(recorder.transcript == ["next 20", "completed"])
  }

  @Test func `work lends its slot to the flight that it waits for, though other work goes on`() {
    let work = Work { _, ask in ask(101) }
    let cache = work.made(AnyCache(work.limited(to: 2).reusingInFlight()))
    let recorder = Recorder<Int>()
    let other = cache.get(100).subscribe()
    recorder.subscribe(to: cache.get(1))
    #expect(work.runs([100, 101]) == 2)

    work.origin[101].next(7)
    work.origin[101].completed()

    #expect(recorder.transcript == ["next 7", "completed"])
    other.dispose()
    #expect(cache.flights.isEmpty)
  }

  @Test func `a limit holds over flights`() {
    let origin = TestOrigin<Int, Int>()
    let cache = origin.reusingInFlight().limited(to: 2)

    for key in 0..<4 { cache.get(key).subscribe() }
    #expect((0..<4).map { origin[$0].activeRuns } == [1, 1, 0, 0])

    origin[0].completed()
    #expect((0..<4).map { origin[$0].activeRuns } == [0, 1, 1, 0])
  }

  @Test func `a queued flight that all holders of slots wait for is served`() async throws {
    let door = Door()
    let work = Work { key, ask in
      let inner = ask(100)
      return .async {
        _ = try await door.signal.value
        return try await inner.value
      }
    }
    let cache = work.made(AnyCache(work.limited(to: 2).reusingInFlight()))
    let recorders = [0, 1, 100].map { Recorder<Int>().subscribe(to: cache.get($0)) }
    #expect(work.runs([100]) == 0)

    door.open()
    // Both holders and the caller from outside.
    while cache.flights.first(where: { $0.key as? Int == 100 })?.callers != 3 {
      await Task.yield()
    }
    try await work.origin[100].subscriptions(count: 1)
    work.origin[100].next(5)
    work.origin[100].completed()
    for recorder in recorders { _ = try await recorder.ended() }

    #expect(recorders.allSatisfy { $0.transcript == ["next 5", "completed"] })
    for key in 200..<203 { cache.get(key).subscribe() }
    #expect(work.runs(200..<203) == 2)
  }

  @Test func `a slot that was lent goes back to its holder before others`() {
    let gate = PublishSubject<Void>()
    let work = Work { key, ask in
      ask(100 + key).flatMap { value in gate.signal.take(1).map { value } }
    }
    let cache = work.made(AnyCache(work.limited(to: 1)))
    let outer = Recorder<Int>().subscribe(to: cache.get(0))
    cache.get(200).subscribe()
    #expect(work.runs([100]) == 1)

    work.origin[100].next(1)
    work.origin[100].completed()
    #expect(work.runs([200]) == 0)

    gate.next(())
    #expect(outer.transcript == ["next 1", "completed"])
    #expect(work.runs([200]) == 1)
  }

  @Test func `a slot lent to a flight goes back to its holder when that leaves the flight`() {
    let (stop, rest) = (PublishSubject<Void>(), TestSource<Int>())
    let work = Work { _, ask in ask(101).take(until: stop.signal).concat(rest.signal) }
    let cache = work.made(AnyCache(work.limited(to: 1).reusingInFlight()))
    cache.get(100).subscribe()
    cache.get(0).subscribe()
    let other = cache.get(101).subscribe()
    cache.get(200).subscribe()
    work.origin[100].completed()
    #expect(work.runs([101]) == 1)

    other.dispose()
    stop.next(())

    #expect(rest.activeRuns == 1 && work.runs([101, 200]) == 0)
  }

  @Test(arguments: [false, true])
  func `tasks that make tasks keep no former work alive`(isShared: Bool) async throws {
    final class Weak: @unchecked Sendable { weak var context: WorkContext? }
    let contexts = Locked<[Weak]>([])
    let end = Door()
    let work = Work { key, ask in
      let next = ask(key + 1)
      return .async {
        let weak = Weak()
        weak.context = WorkContext.current
        contexts.withLock { $0.append(weak) }
        if key == 60 { end.open() } else { Task { _ = try? await next.value } }
        return key
      }
    }
    let limited = work.limited(to: 2)
    let cache = work.made(isShared ? AnyCache(limited.reusingInFlight()) : AnyCache(limited))

    _ = try await cache.get(0).value
    _ = try await end.signal.value

    #expect(contexts.withLock { $0.count { $0.context != nil } } < 10)
  }
}
