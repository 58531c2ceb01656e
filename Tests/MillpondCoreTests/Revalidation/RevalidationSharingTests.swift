import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Questions of many callers.
@Suite struct RevalidationSharingTests {
  let clock = ManualClock()
  let origin = VersionedOrigin()
  let memory: MemoryCache<String, Int>

  init() {
    memory = MemoryCache(countLimit: 10, clock: clock)
    origin.hold()
  }

  private func put(_ version: Int, in memory: MemoryCache<String, Int>) {
    let stamped = Stamped(
      version, age: .seconds(11), validator: Validator(entityTag: "\(version)"))
    _ = memory.apply(.fill("a", stamped, FillToken()))
  }

  @Test func `a hundred callers share one question`() {
    put(1, in: memory)
    let cache = memory.layered(over: origin.source.reusingInFlight())

    let callers = (0..<100).map { _ in cache.ask(RevalidationScene.atMostTen) }
    origin.answer()

    #expect(origin.asked == ["1"])
    #expect(callers.allSatisfy { $0.values.map(\.value) == [1] && $0.isCompleted })
    #expect(memory.peekStamped("a")?.age == .zero)
  }

  @Test func `callers with different versions ask different questions`() {
    let others = (2...3).map { _ in MemoryCache<String, Int>(countLimit: 1, clock: clock) }
    put(1, in: memory)
    put(2, in: others[0])
    let shared = origin.source.reusingInFlight()
    let caches = [memory, others[0], others[1]]

    let callers = caches.map { $0.layered(over: shared).ask(RevalidationScene.atMostTen) }
    let again = caches.map { $0.layered(over: shared).ask(RevalidationScene.atMostTen) }
    origin.answer()

    #expect(origin.asked == ["1", "2", nil])
    #expect((callers + again).allSatisfy { $0.values.map(\.value) == [1] })
    #expect(caches.allSatisfy { $0.peek("a") == 1 })
  }

  @Test func `the last caller that leaves cancels the question, not the first`() {
    put(1, in: memory)
    let cache = memory.layered(over: origin.source.reusingInFlight())
    let first = cache.ask(RevalidationScene.atMostTen)
    let second = cache.ask(RevalidationScene.atMostTen)

    first.dispose()
    #expect(origin.answers.activeRuns == 1)
    origin.answer()
    #expect(second.values.map(\.value) == [1])

    clock.advance(by: .seconds(11))
    let last = cache.ask(RevalidationScene.atMostTen)
    last.dispose()
    #expect(origin.answers.activeRuns == 0)
    #expect(memory.peek("a") == 1)
  }

  @Test func `a write detaches a question from later callers`() {
    put(1, in: memory)
    let cache = memory.layered(over: origin.source.reusingInFlight())
    let asked = cache.ask(RevalidationScene.atMostTen)

    cache.set(5, for: "a")
    let later = cache.ask(RevalidationScene.atMostTen)
    origin.answer()

    #expect(asked.values.map(\.value) == [1])
    #expect(later.values.map(\.value) == [5])
    #expect(memory.peek("a") == 5)
  }

  @Test func `a memory below, which shares running entries, answers with a value`() {
    put(1, in: memory)
    let below = MemoryCache<String, Int>(countLimit: 1, clock: clock)
    let running = TestSource<Int>()
    below["a"] = running.signal.replayLast()
    let other = below["a"].map { Recorder<Int>().subscribe(to: $0) }

    let asked = memory.layered(over: below).ask(RevalidationScene.atMostTen)
    running.next(4)
    running.completed()

    #expect(asked.values.map(\.value) == [4] && other?.values == [4])
  }
}
