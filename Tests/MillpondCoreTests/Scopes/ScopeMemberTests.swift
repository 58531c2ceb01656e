import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The members of a scope, their release, and the wait at its end.
@Suite struct ScopeMemberTests {
  let scope = CacheScope()
  let erasures = Locked<[String]>([])

  struct Trouble: Error {}

  private func member(_ name: String, isPersistent: Bool = false) -> Disposable {
    scope.add(isPersistent: isPersistent) { [erasures] in
      erasures.withLock { $0.append(name) }
      return .just(())
    }
  }

  private var erased: [String] { erasures.withLock { $0 } }

  @Test func `members are erased in the order in which they were added, at every end`() {
    let members = ["a", "b", "c"].map { member($0) }

    scope.end()
    scope.end()

    #expect(erased == ["a", "b", "c", "a", "b", "c"])
    withExtendedLifetime(members) {}
  }

  @Test func `a member that has left is not erased`() {
    member("a").dispose()

    scope.end()

    #expect(erased.isEmpty)
  }

  @Test func `a member that has left something behind is erased once more`() {
    member("a", isPersistent: true).dispose()

    scope.end()
    scope.end()

    #expect(erased == ["a"])
  }

  @Test func `a member that has left something behind stays until it could be erased`() {
    let isBroken = Locked(true)
    let membership = scope.add(isPersistent: true) { [erasures] in
      erasures.withLock { $0.append("a") }
      return isBroken.withLock { $0 } ? .fail(Trouble()) : .just(())
    }
    membership.dispose()

    let first = Recorder<Void>().subscribe(to: scope.end())
    isBroken.withLock { $0 = false }
    let second = Recorder<Void>().subscribe(to: scope.end())
    scope.end()

    #expect(first.failure is Trouble)
    #expect(second.isCompleted)
    #expect(erased == ["a", "a"])
  }

  @Test func `a value written between an erasure and the leaving is erased at the next end`() {
    let files = TestSource<Void>()
    let membership = scope.add(isPersistent: true) { [erasures] in
      erasures.withLock { $0.append("a") }
      return files.signal
    }
    scope.end()
    membership.dispose()
    files.next(())
    files.completed()

    scope.end()

    #expect(erased == ["a", "a"])
  }

  @Test func `the outcome waits for every member, also after a failure`() {
    let (one, other) = (TestSource<Void>(), TestSource<Void>())
    _ = scope.add { one.signal }
    _ = scope.add { other.signal }
    let outcome = Recorder<Void>().subscribe(to: scope.end())

    one.failed(Trouble())
    #expect(outcome.end == nil)
    other.next(())
    other.completed()

    #expect(outcome.failure is Trouble)
  }

  @Test func `the outcome waits for writes in progress`() {
    let write = TestSource<Void>()
    let slow = AnyCache<String, Int>(
      get: { _ in .empty }, set: { _, _ in write.signal.replayLast(.keepRunning) },
      remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = slow.scoped(to: scope)
    cache.set(1, for: "a")

    let outcome = Recorder<Void>().subscribe(to: scope.end())
    #expect(outcome.end == nil)
    write.failed(Trouble())

    #expect(outcome.isCompleted)
  }

  @Test func `a member may end the membership of another, add one, and ask while it is erased`() {
    let added = Locked<[Disposable]>([])
    let other = Locked<Disposable?>(nil)
    let cache = MemoryCache<String, Int>(countLimit: 10).scoped(to: scope)
    cache.set(1, for: "a")
    let found = Recorder<Int>()
    _ = scope.add { [scope] in
      other.withLock { $0 }?.dispose()
      added.withLock { $0.append(scope.add { .just(()) }) }
      found.subscribe(to: cache.get("a"))
      return .just(())
    }
    other.withLock { $0 = member("other") }

    scope.end()

    #expect(found.transcript == ["completed"])
  }

  @Test func `a scope lets go of a multiplexer that is gone`() {
    let living = Locked(0)
    do {
      let load = Load(living)
      let map = MultiplexerMap<Int, Load>(scope: scope) { _ in load }
      map.set(load, for: 1)
      #expect(living.withLock { $0 } == 1)
    }

    #expect(living.withLock { $0 } == 0)
  }

  @Test
  func
    `the files of a released multiplexer are removed at the end of the scope, and then it is released`()
  {
    let disk = TestCache<Int, Int>()
    let living = Locked(0)
    do {
      let load = Load(living)
      let map = MultiplexerMap<Int, Int>(persistence: Persistence(disk), scope: scope) { _ in
        withExtendedLifetime(load) { 1 }
      }
      map.set(1, for: 1)
    }
    #expect(disk.contents == [1: 1])

    scope.end()

    #expect(disk.contents.isEmpty)
    #expect(living.withLock { $0 } == 0)
  }

  @Test func `a cache that nothing uses any more is removed at the end, and then released`() {
    let living = Locked(0)
    do {
      let cache = MemoryCache<Int, Load>(countLimit: 10).layered(over: TestCache<Int, Load>())
        .scoped(to: scope)
      cache.set(Load(living), for: 1)
    }
    #expect(living.withLock { $0 } == 1)

    scope.end()

    #expect(living.withLock { $0 } == 0)
  }

  @Test func `a cache in use stays a member from one end to the next`() {
    let memory = MemoryCache<Int, Int>(countLimit: 10)
    let cache = memory.scoped(to: scope)
    scope.end()
    cache.set(2, for: 2)

    scope.end()

    #expect(memory.count == 0)
  }

  @Test func `of a source that is remembered nothing from before the end is joined or stored`() {
    let origin = TestOrigin<String, Int>()
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let users = origin.remembered(in: memory, .ten())
    let mine = users.scoped(to: scope)
    let refreshed = Recorder<Int>().subscribe(to: users.refresh("a"))
    let former = Recorder<Int>().subscribe(to: mine.get("a"))

    scope.end()
    let next = Recorder<Int>().subscribe(to: mine.get("a"))
    origin["a"].runs[0].next(1)
    origin["a"].runs[0].completed()

    #expect(former.values.isEmpty && former.failure != nil)
    #expect(refreshed.values == [1])
    #expect(next.values.isEmpty)
    #expect(memory.count == 0)
    origin["a"].next(2)
    #expect(next.values == [2])
  }

  @Test func `the outcome of an earlier refresh is not delivered to callers from after the end`() {
    let origin = TestOrigin<Int, String>()
    let map = MultiplexerMap<Int, String>(over: origin, scope: scope)
    let refreshed = map.refresh(1)
    origin[1].next("the former user's")
    origin[1].completed()

    scope.end()
    let late = Recorder<String>().subscribe(to: refreshed)

    #expect(late.values.isEmpty)
    guard case CacheError.scopeEnded? = late.failure else {
      Issue.record("\(late.transcript)")
      return
    }
  }
}

private final class Load: Sendable {
  private let living: Locked<Int>

  init(_ living: Locked<Int>) {
    self.living = living
    living.withLock { $0 += 1 }
  }

  deinit {
    living.withLock { $0 -= 1 }
  }
}
