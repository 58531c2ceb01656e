import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RepositoryTests {
  let repository = Repository()
  let kept = TestCache<String, Int>()

  private func multiplexer() -> Multiplexer<Int> {
    Multiplexer(persistence: Persistence(kept), signal: { .just(1) })
  }

  @Test func `a name that is taken is an error`() throws {
    let (one, other) = (multiplexer(), multiplexer())
    try repository.add(one, named: "profile")

    #expect(throws: CacheError.self) { try repository.add(other, named: "profile") }
    #expect(repository.names == ["profile"])
    withExtendedLifetime((one, other)) {}
  }

  @Test func `it keeps its members until they are removed, and then their names are free`() throws {
    weak var member: Multiplexer<Int>?
    do {
      let one = multiplexer()
      member = one
      one.set(1)
      try repository.add(one, named: "profile")
    }
    #expect(repository.names == ["profile"])
    repository.removeAllValues()
    #expect(kept.contents.isEmpty)

    repository.remove(named: "profile")
    #expect(member == nil)
    try repository.add(multiplexer(), named: "profile")
    #expect(repository.names == ["profile"])
  }

  @Test func `any cache can be a member, and all its layers are flushed and cleared`() throws {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let flushes = Locked(0)
    let layered = memory.layered(
      over: TopologyCache(
        topology: Topology(
          .store, "store",
          flush: { _ in
            flushes.withLock { $0 += 1 }
            return .just(())
          })))
    try repository.add(layered, named: "pictures")
    memory.set(1, for: "a")

    repository.flush()
    repository.removeAllValues()

    #expect(flushes.withLock { $0 } == 1)
    #expect(memory.now("a", Lookup()) == nil)
  }

  @Test func `a member that fails or hangs leaves the others cleared`() throws {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    try repository.add(RepositoryMember(removeAll: { .fail(Refused()) }), named: "a")
    let hung = TestSource<Void>()
    try repository.add(RepositoryMember(removeAll: { hung.signal }), named: "b")
    try repository.add(memory, named: "c")
    memory.set(1, for: "a")

    let cleared = Recorder<Void>().subscribe(to: repository.removeAllValues())

    #expect(memory.now("a", Lookup()) == nil)
    #expect(cleared.end == nil)
    #expect(cleared.progress.map(\.completed).max() == 2)
  }

  @Test func `all refreshing members can be marked stale at once`() throws {
    let source = TestSource<Int>()
    let one = Multiplexer(signal: { source.signal })
    let map = MultiplexerMap<String, Int>(over: TestOrigin())
    let remembered = TestOrigin<String, Int>()
      .remembered(in: MemoryCache(countLimit: 10), FreshnessPolicy()).reusingInFlight()
    try repository.add(one, named: "one")
    try repository.add(map, named: "map")
    try repository.add(remembered, named: "remembered")
    one.set(1)
    map.set(2, for: "a")
    remembered.set(3, for: "a")

    repository.markAllStale()

    #expect(Recorder().subscribe(to: one.get()).values.isEmpty)
    #expect(Recorder().subscribe(to: map.get("a")).values.isEmpty)
    #expect(Recorder().subscribe(to: remembered.get("a")).values.isEmpty)
    #expect(one.current == 1)
  }

  @Test func `all are cleared, of whatever kind they are`() throws {
    let one = multiplexer()
    let map = MultiplexerMap<Int, Int>(over: TestOrigin())
    try repository.add(one, named: "one")
    try repository.add(map, named: "map")
    one.set(1)
    map.set(2, for: 2)

    let cleared = Recorder<Void>().subscribe(to: repository.removeAllValues())

    #expect(cleared.isCompleted)
    #expect(one.current == nil)
    #expect(map.current(2) == nil)
  }

  @Test func `a flush flushes all members, sends its progress, and fails if one does`() throws {
    let members = [Held(), Held(), Held()]
    for (number, member) in members.enumerated() {
      try repository.add(member.functions, named: "\(number)")
    }
    let flush = Recorder<Void>().subscribe(to: repository.flush())
    #expect(members.allSatisfy { $0.source.subscriptions == 1 })

    members[2].source.failed(Refused())
    #expect(flush.end == nil)
    members[1].end()
    members[0].source.failed(Refused())

    #expect(failedSteps(flush.failure) == ["flush of 0", "flush of 2"])
    #expect(flush.progress.map(\.completed).max() == 3)
    #expect(flush.progress.allSatisfy { $0.total == 3 })
  }

  @Test(arguments: [0, 1, 3])
  func `a member counts once, whatever number of values its outcome sends`(count: Int) throws {
    let member = TestSource<Void>()
    let (values, held) = (Array(repeating: Signal.just(()), count: count), Held())
    try repository.add(RepositoryMember(flush: { .merge(values) }), named: "a")
    try repository.add(RepositoryMember(flush: { member.signal }), named: "b")
    try repository.add(held.functions, named: "c")

    let flush = Recorder<Void>().subscribe(to: repository.flush())
    for _ in 0..<count { member.next(()) }
    #expect(flush.progress.last?.completed == 1)
    member.completed()
    #expect(flush.progress.last?.completed == 2)
    held.end()

    #expect(flush.progress.last?.completed == 3)
    #expect(flush.isCompleted)
  }

  @Test func `a flush without members is done`() async throws {
    try await repository.flush().value
  }

  @Test func `a flush runs, with or without a listener`() throws {
    let member = Held()
    try repository.add(member.functions, named: "a")

    repository.flush()

    #expect(member.source.subscriptions == 1)
  }
}

private final class Held: Sendable {
  let source = TestSource<Void>()

  func end() {
    source.next(())
    source.completed()
  }

  var functions: RepositoryMember {
    RepositoryMember(flush: { [source] in source.signal.replayLast(.keepRunning) })
  }
}

/// A cache that stores nothing and describes itself as it is told.
private struct TopologyCache: Cache {
  let topology: Topology

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }

  func topology(for key: String?) -> Topology { topology }
}
