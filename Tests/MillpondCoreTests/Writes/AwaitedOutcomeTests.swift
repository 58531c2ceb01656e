import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Outcomes that a task awaits: what can't be confirmed throws, and a success never does.
@Suite struct AwaitedOutcomeTests {
  struct Trouble: Error {}

  private let scope = CacheScope()
  private let repository = Repository()

  @Test func `what ends, flushes or empties a whole throws its failure when it is awaited`()
    async throws
  {
    let failing = RepositoryMember(
      flush: { .fail(Trouble()) }, removeAll: { .fail(Trouble()) }, close: { .fail(Trouble()) })
    try repository.add(failing, named: "failing")
    let membership = scope.add { .fail(Trouble()) }
    let stuck = FunctionSource<Int, Int>.signal { _ in .never }.stoppable()
    let subscription = stuck.get(1).subscribe()
    let map = MultiplexerMap<Int, Int>(
      persistence: Persistence(
        AnyCache(get: { _ in .empty }, set: { _, _ in .fail(Trouble()) })), clock: ManualClock()
    ) { $0 }
    map.set(1, for: 1)

    await #expect(throws: (any Error).self) { try await repository.flush() }
    await #expect(throws: (any Error).self) { try await repository.removeAllValues() }
    await #expect(throws: (any Error).self) {
      try await repository.shutDown(deadline: .after(.seconds(60)))
    }
    await #expect(throws: Trouble.self) { try await scope.end() }
    await #expect(throws: (any Error).self) { try await map.flush() }
    membership.dispose()
    subscription.dispose()
    try await scope.end()
    try await stuck.flush(.synchronized)
    try await stuck.shutDown(deadline: .after(.seconds(60)))
  }

  @Test func `an awaited end is suspended until the last member is erased`() async throws {
    let erasure = TestSource<Void>()
    let membership = scope.add { erasure.signal }
    defer { membership.dispose() }
    let isOver = Locked(false)
    let ending = Task {
      try await scope.end()
      return isOver.withLock { $0 }
    }
    try await erasure.subscriptions(count: 1)

    isOver.withLock { $0 = true }
    erasure.completed()

    #expect(try await ending.value)
  }

  @Test func `an outcome that succeeds has a value, even if the work has none`() async throws {
    let cache = AnyCache<Int, Int>(
      get: { _ in .empty }, set: { _, _ in .empty }, remove: { _ in .empty },
      removeAll: { .empty }, removeMatching: { _ in .empty })

    try await cache.set(1, for: 1).value
    try await cache.remove(1).value
    try await cache.removeAll().value
    try await cache.removeAll { _ in true }.value
    try await cache.set(all: [1: 1]).value
    try await cache.remove(all: [1]).value
    try await cache.flush()
    #expect(try await cache.setTimeToLive(.minutes(1), for: 1).value == false)
  }
}
