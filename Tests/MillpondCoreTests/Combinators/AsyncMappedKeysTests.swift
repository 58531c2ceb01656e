import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct AsyncMappedKeysTests {
  let base = TestCache<String, Int>()
  let source = TestSource<String>()
  let recorder = Recorder<Int>()

  struct Trouble: Error {}

  /// A transform of keys that finishes when the test permits it.
  private var held: AsyncMappedKeys<TestCache<String, Int>, Int> {
    base.mapKeys(asynchronously: { [signal = source.signal] number in
      try await signal.value + "\(number)"
    })
  }

  private var prompt: AsyncMappedKeys<TestCache<String, Int>, Int> {
    base.mapKeys(asynchronously: { "n\($0)" })
  }

  @Test func `keys are turned into the base's, both ways`() async throws {
    let cache = prompt

    try await cache.set(5, for: 1).value

    #expect(base.contents == ["n1": 5])
    #expect(try await cache.get(1).value == 5)
    try await cache.remove(1).value
    #expect(base.contents == [:])
  }

  @Test func `a get waits for the set of its key that is on its way`() async throws {
    let cache = held
    let outcome = Recorder<Void>().subscribe(to: cache.set(5, for: 1))
    try await source.subscriptions(count: 1)

    recorder.subscribe(to: cache.get(1))
    #expect(recorder.transcript == [] && outcome.transcript == [])
    source.next("n")
    try await outcome.ended()
    try await source.subscriptions(count: 2)
    source.next("n")

    try await recorder.ended()
    #expect(recorder.values == [5])
  }

  @Test func `a later write wins, whichever key is there first`() async throws {
    let cache = held
    let set = Recorder<Void>().subscribe(to: cache.set(5, for: 1))
    try await source.subscriptions(count: 1)
    let removed = Recorder<Void>().subscribe(to: cache.remove(1))
    try await source.subscriptions(count: 2)

    source.runs[1].next("n")
    try await removed.ended()
    source.runs[0].next("n")
    try await set.ended()

    #expect(base.contents == [:])
  }

  @Test func `clearing waits for no key, and wins over what was set before`() async throws {
    let cache = held
    let set = Recorder<Void>().subscribe(to: cache.set(5, for: 1))
    try await source.subscriptions(count: 1)
    #expect(Recorder<Void>().subscribe(to: cache.removeAll()).isCompleted)
    let after = Recorder<Void>().subscribe(to: cache.set(6, for: 2))
    try await source.subscriptions(count: 2)

    source.next("n")
    try await set.ended()
    try await after.ended()

    #expect(base.contents == ["n2": 6])
  }

  @Test func `an error of the asynchronous transform fails the get and the set unchanged`()
    async throws
  {
    let cache = base.mapKeys(asynchronously: { (_: Int) async throws -> String in throw Trouble() })
    let set = Recorder<Void>().subscribe(to: cache.set(5, for: 1))

    recorder.subscribe(to: cache.get(1))

    try await recorder.ended()
    try await set.ended()
    #expect(recorder.failure is Trouble && set.failure is Trouble)
  }

  @Test func `a caller that leaves cancels the transform of its get`() async throws {
    recorder.subscribe(to: held.get(1))
    try await source.subscriptions(count: 1)

    recorder.dispose()

    try await source.disposals(count: 1)
    #expect(base.gets == [])
  }

  @Test func `a fill is refused if its key was written to since its token was drawn`() async throws
  {
    let cache = prompt
    let late = FillToken()
    try await cache.remove(1).value

    #expect(try await cache.apply(.fill(1, Stamped(5), late)).valueIfAny == nil)
    #expect(base.contents == [:])

    try await cache.apply(.fill(1, Stamped(5), FillToken())).value
    #expect(base.contents == ["n1": 5])
  }
}
