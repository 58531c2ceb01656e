import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Values that outlive the process.
@Suite struct MultiplexerFlushingTests {
  let clock = ManualClock()
  let kept = TestCache<Int, String>()
  let origin = TestOrigin<Int, String>()
  let users: MultiplexerMap<Int, String>

  init() {
    users = MultiplexerMap(
      over: origin, freshness: .ten(), persistence: Persistence(kept), clock: clock)
  }

  @Test func `fetched, set and removed values reach the persistence`() {
    users.get(1).subscribe()
    origin[1].next("one")
    origin[1].completed()
    users.set("two", for: 2)
    users.set("three", for: 3)
    users.remove(3)

    #expect(kept.contents == [1: "one", 2: "two"])
  }

  @Test func `a value from an earlier run is fresh for the rest of its time only`() {
    _ = kept.apply(.fill(1, Stamped("old", age: .seconds(11)), .any))
    _ = kept.apply(.fill(2, Stamped("young", age: .seconds(1)), .any))
    let old = Recorder<String>().subscribe(to: users.get(1))
    let young = Recorder<String>().subscribe(to: users.get(2))

    origin[1].failed(Offline())

    #expect(old.values == ["old"])
    #expect(young.values == ["young"])
    #expect(origin[2].subscriptions == 0)
  }

  @Test func `a flush reports the values that cannot be stored, keeps them, and retries them`() {
    kept.failChanges(of: 1, with: Refused())
    users.get(1).subscribe()
    origin[1].next("one")
    origin[1].completed()

    let first = Recorder<Void>().subscribe(to: users.flush())
    #expect(first.failure is Refused)
    #expect(users.current(1) == "one")
    kept.failChanges(of: 1, with: nil)
    let second = Recorder<Void>().subscribe(to: users.flush())

    #expect(second.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test func `a flush retries a removal that failed`() {
    let isFull = Locked(true)
    let stubborn = AnyCache<Int, String>(
      get: { [kept] in kept.get($0, Lookup()) }, set: { [kept] in kept.set($0, for: $1) },
      remove: { [kept] key in
        isFull.withLock { $0 } ? .fail(Refused()) : kept.remove(key)
      },
      removeAll: { [kept] in kept.removeAll() })
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(stubborn))
    users.set("one", for: 1)
    users.remove(1)

    #expect(Recorder<Void>().subscribe(to: users.flush()).failure is Refused)
    isFull.withLock { $0 = false }
    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents.isEmpty)
  }

  @Test func `a flush saves the value that was set after one that could not be saved`() {
    kept.failChanges(of: 1, with: Refused())
    users.set("one", for: 1)
    kept.failChanges(of: 1, with: nil)
    users.set("two", for: 1)

    users.flush()

    #expect(kept.contents == [1: "two"])
  }

  @Test func `a flush does not store values that are cleared during it`() {
    kept.failChanges(of: 1, with: Refused())
    users.set("one", for: 1)
    kept.failChanges(of: 1, with: nil)

    users.removeAll()
    users.flush()

    #expect(kept.contents.isEmpty)
    #expect(users.current(1) == nil)
  }

  @Test func `a flush waits for what it is made over, and fails with it`() {
    let gate = TestSource<Void>()
    let users = MultiplexerMap<Int, String>(
      over: origin, persistence: Persistence(kept, flush: { gate.signal }))
    let flush = Recorder<Void>().subscribe(to: users.flush())
    #expect(flush.end == nil)

    gate.failed(Refused())

    #expect(flush.failure is Refused)
  }

  @Test func `a value that could not be saved once is saved by a flush, or the flush fails`() {
    let disk = FailingCache(over: kept)
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(disk))
    disk.fails(.set, Refused())
    let set = Recorder<Void>().subscribe(to: users.set("one", for: 1))
    #expect(set.failure != nil)
    disk.fails(.fill, Refused())

    #expect(Recorder<Void>().subscribe(to: users.flush()).failure is Refused)
    #expect(Recorder<Void>().subscribe(to: users.flush()).failure is Refused)
    disk.fails(.fill, nil)
    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents == [1: "one"])
  }

  @Test func `a value whose saving fails during a flush is saved by that flush`() {
    let (disk, gate) = (FailingCache(over: kept), TestSource<Void>())
    let users = MultiplexerMap<Int, String>(
      over: origin, persistence: Persistence(disk, flush: { gate.signal }))
    let flush = Recorder<Void>().subscribe(to: users.flush())
    disk.fails(.set, Refused())
    users.set("one", for: 1)
    for _ in 0..<2 {
      gate.next(())
      gate.completed()
    }

    #expect(flush.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test(arguments: 0..<3)
  func `a removal that the persistence failed to carry out does not come back`(kind: Int) {
    let kinds: [FailingCache<Int, String>.Operation] = [.remove, .removeAll, .removeMatching]
    let operation = kinds[kind]
    let disk = FailingCache(over: kept)
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(disk))
    users.set("one", for: 1)
    users.set("two", for: 2)
    disk.fails(operation, Refused())
    let states = Recorder<ResourceState<String>>().subscribe(to: users.states(of: 1))

    switch operation {
    case .remove: users.remove(1)
    case .removeAll: users.removeAll()
    default: _ = users.removeAll { $0 == 1 }
    }
    #expect(kept.contents[1] == "one")
    #expect(Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly)).values.isEmpty)
    #expect(states.values.last?.value == nil)
    #expect(Recorder().subscribe(to: users.states(of: 1)).values.last?.value == nil)
    users.set("new", for: 1)
    users.relieve(.critical)

    #expect(
      Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly)).values == ["new"])
    disk.fails(operation, nil)
    users.flush()
    #expect(kept.contents[1] != "one")
  }

  @Test func `after a sign-out that failed on disk the next user's gets do not find the values`() {
    let (disk, session) = (FailingCache(over: kept), CacheScope())
    let users = MultiplexerMap<Int, String>(
      over: origin, persistence: Persistence(disk), scope: session)
    users.set("Ada's", for: 1)
    disk.fails(.removeAll, Refused())

    let end = Recorder<Void>().subscribe(to: session.end())

    #expect(end.failure is Refused)
    #expect(Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly)).values.isEmpty)
    disk.fails(.removeAll, nil)
    #expect(Recorder<Void>().subscribe(to: session.end()).isCompleted)
    #expect(kept.contents.isEmpty)
  }

  @Test func `a value that is looked up while its removal fails is not shown`() {
    let (answers, removal) = (TestSource<String>(), TestSource<Void>())
    let slow = AnyCache<Int, String>(
      get: { _ in answers.signal }, set: { _, _ in .just(()) },
      remove: { _ in removal.signal.replayLast(.keepRunning) }, removeAll: { .just(()) })
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(slow))
    users.remove(1)

    let get = Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly))
    removal.failed(Refused())
    answers.next("old")
    answers.completed()

    #expect(get.values.isEmpty)
  }

  @Test func `a set that failed on disk and left memory does not bring an older value back`() {
    kept.set("old", for: 1)
    let disk = FailingCache(over: kept)
    let users = MultiplexerMap<Int, String>(
      over: origin, countLimit: 1, persistence: Persistence(disk))
    for operation in [FailingCache<Int, String>.Operation.set, .remove] {
      disk.fails(operation, Refused())
    }
    users.set("new", for: 1)
    users.set("other", for: 2)
    #expect(users.current(1) == nil)
    for operation in [FailingCache<Int, String>.Operation.set, .remove] {
      disk.fails(operation, nil)
    }

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents[1] == nil)
    #expect(kept.contents[2] == "other")
  }

  @Test func `a removal of all that failed is tried again, and what was set since is saved`() {
    let disk = FailingCache(over: kept)
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(disk))
    users.set("one", for: 1)
    disk.fails(.removeAll, Refused())
    users.removeAll()
    users.set("two", for: 2)

    #expect(Recorder<Void>().subscribe(to: users.flush()).failure is Refused)
    #expect(kept.contents[1] == "one")
    disk.fails(.removeAll, nil)
    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents == [2: "two"])
  }

  @Test func `however many sets fail, a bounded number is noted, and a flush puts all right`() {
    let disk = FailingCache(over: kept)
    for key in 0..<100 { kept.set("old", for: key) }
    let users = MultiplexerMap<Int, String>(
      over: origin, countLimit: 10, persistence: Persistence(disk))
    for operation in [FailingCache<Int, String>.Operation.set, .remove] {
      disk.fails(operation, Refused())
    }
    for key in 0..<6_000 { users.set("new", for: key) }
    for operation in [FailingCache<Int, String>.Operation.set, .remove] {
      disk.fails(operation, nil)
    }
    let before = disk.changes

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(disk.changes - before < 5_000)
    #expect(kept.contents.values.allSatisfy { $0 == "new" })
    let inMemory = (0..<6_000).filter { users.current($0) != nil }
    #expect(inMemory.allSatisfy { kept.contents[$0] == "new" })
  }

  @Test func `a removal of everything that a flush repeats leaves what was set since`() {
    let isFull = Locked(true)
    let store = AnyCache<Int, String>(
      get: { [kept] in kept.get($0, Lookup()) }, set: { [kept] in kept.set($0, for: $1) },
      remove: { [kept] in kept.remove($0) },
      removeAll: { [kept] in isFull.withLock { $0 } ? .fail(Refused()) : kept.removeAll() },
      removeMatching: { [kept] isRemoved in kept.removeAll { isRemoved($0) } })
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(store))
    users.removeAll()
    users.set("two", for: 2)
    users.relieve(.critical)
    isFull.withLock { $0 = false }

    users.flush()

    #expect(kept.contents == [2: "two"])
  }

  enum Write: CaseIterable {
    case set, remove, removeAll, endOfScope
  }

  @Test(arguments: Write.allCases)
  func `a flush within a write does not save the older value over it`(
    kind: Write
  ) async throws {
    let (isFull, act) = (Locked(true), Locked<(@Sendable () -> Void)?>(nil))
    let write = { @Sendable (write: () -> Signal<Void>) -> Signal<Void> in
      if isFull.withLock({ $0 }) { return .fail(Refused()) }
      let outcome = write()
      // The persistence has it now, and memory does not yet.
      act.withLock { exchange(&$0, with: nil) }?()
      return outcome
    }
    let disk = AnyCache<Int, String>(
      get: { [kept] in kept.get($0, Lookup()) },
      set: { [kept] value, key in write { kept.set(value, for: key) } },
      remove: { [kept] key in write { kept.remove(key) } },
      removeAll: { [kept] in write { kept.removeAll() } })
    let scope = CacheScope()
    let users = MultiplexerMap<Int, String>(
      over: origin, persistence: Persistence(disk), scope: scope)
    users.set("one", for: 1)
    isFull.withLock { $0 = false }
    let flush = Recorder<Void>()
    act.withLock { $0 = { flush.subscribe(to: users.flush()) } }

    switch kind {
    case .set: users.set("two", for: 1)
    case .remove: users.remove(1)
    case .removeAll: users.removeAll()
    case .endOfScope: _ = scope.end() as Signal<Void>
    }

    try await flush.ended()

    #expect(act.withLock { $0 == nil } && flush.isCompleted)
    #expect(kept.contents == (kind == .set ? [1: "two"] : [:]))
    #expect(users.current(1) == (kind == .set ? "two" : nil))
  }

  @Test func `a flush saves what was fetched after a removal`() {
    users.set("one", for: 1)
    users.remove(1)
    kept.failChanges(of: 1, with: Refused())
    users.get(1).subscribe()
    origin[1].next("fetched")
    origin[1].completed()
    kept.failChanges(of: 1, with: nil)

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)
    #expect(kept.contents == [1: "fetched"])
  }

  @Test func `of more values than are noted none is lost that is in memory`() {
    let disk = FailingCache(over: kept)
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(disk))
    disk.fails(.set, Refused())
    for key in 0..<5_000 { users.set("new", for: key) }
    disk.fails(.set, nil)

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents.count == 5_000)
  }

  @Test(arguments: [true, false])
  func `a flush saves what was fetched after a set that memory has forgotten`(isWiped: Bool) {
    users.set("one", for: 1)
    users.relieve(.critical)
    if isWiped { _ = users.removeAll { $0 == 1 } }
    kept.failChanges(of: 1, with: Refused())
    users.refresh(1)
    origin[1].next("fetched")
    origin[1].completed()
    kept.failChanges(of: 1, with: nil)

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents == [1: "fetched"])
  }

  @Test func `a flush saves what closures could not store of a fetch`() {
    let isFull = Locked(true)
    let disk = AnyCache<Int, String>(
      get: { [kept] in kept.get($0, Lookup()) },
      set: { [kept] in isFull.withLock { $0 } ? .fail(Refused()) : kept.set($0, for: $1) },
      remove: { [kept] in kept.remove($0) }, removeAll: { [kept] in kept.removeAll() })
    kept.set("old", for: 1)
    let users = MultiplexerMap<Int, String>(over: origin, persistence: Persistence(disk))
    users.refresh(1)
    origin[1].next("fetched")
    origin[1].completed()
    #expect(kept.contents == [:])
    isFull.withLock { $0 = false }

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)

    #expect(kept.contents == [1: "fetched"])
  }
}

/// A cache that fails some of its changes before they reach another.
private final class FailingCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  enum Operation: Hashable, Sendable {
    case set, remove, removeAll, removeMatching, fill
  }

  private let base: TestCache<Key, Value>
  private let state = Locked((failures: [Operation: any Error](), changes: 0))

  init(over base: TestCache<Key, Value>) {
    self.base = base
  }

  var changes: Int { state.withLock { $0.changes } }

  func fails(_ operation: Operation, _ error: (any Error)?) {
    state.withLock { $0.failures[operation] = error }
  }

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let operation: Operation =
      switch change {
      case .set: .set
      case .remove: .remove
      case .removeAll: .removeAll
      case .removeMatching: .removeMatching
      case .fill: .fill
      }
    let failure = state.withLock { state in
      state.changes += 1
      return state.failures[operation]
    }
    return failure.map { .fail($0) } ?? base.apply(change)
  }
}
