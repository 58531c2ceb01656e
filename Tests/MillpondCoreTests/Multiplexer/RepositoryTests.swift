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

  @Test func `it keeps nobody, and the name of one that is gone is free`() throws {
    try repository.add(multiplexer(), named: "profile")
    #expect(repository.names.isEmpty)

    let other = multiplexer()
    try repository.add(other, named: "profile")
    #expect(repository.names == ["profile"])
    repository.remove(named: "profile")
    #expect(repository.names.isEmpty)
    withExtendedLifetime(other) {}
  }

  @Test func `all are cleared, of whatever kind they are`() throws {
    let one = multiplexer()
    let map = MultiplexerMap<Int, Int>(over: TestOrigin())
    try repository.add(one, named: "one")
    try repository.add(map, named: "map")
    one.store(1)
    map.set(2, for: 2)

    let cleared = Recorder<Void>().subscribe(to: repository.clear())

    #expect(cleared.isCompleted)
    #expect(one.current == nil)
    #expect(map.current(2) == nil)
  }

  @Test func `a flush is of all, tells how far it is, and fails if one does`() throws {
    let members = [Held(), Held(), Held()]
    for (number, member) in members.enumerated() {
      try repository.add(member, named: "\(number)")
    }
    let flush = Recorder<Void>().subscribe(to: repository.flush())
    #expect(members.allSatisfy { $0.source.subscriptions == 1 })

    members[0].source.failed(Refused())
    #expect(flush.end == nil)
    members[1].end()
    members[2].end()

    #expect(flush.failure is Refused)
    #expect(flush.progress.map(\.completed).max() == 3)
    #expect(flush.progress.allSatisfy { $0.total == 3 })
  }

  @Test func `of nobody a flush is done`() async throws {
    try await repository.flush().value
  }

  @Test func `a flush runs, whoever listens`() throws {
    let member = Held()
    try repository.add(member, named: "a")

    repository.flush()

    #expect(member.source.subscriptions == 1)
  }
}

private final class Held: RepositoryMember {
  let source = TestSource<Void>()

  func end() {
    source.next(())
    source.completed()
  }

  func flush() -> Signal<Void> {
    source.signal.replayLast(.keepRunning)
  }

  func clear() -> Signal<Void> {
    .just(())
  }
}
