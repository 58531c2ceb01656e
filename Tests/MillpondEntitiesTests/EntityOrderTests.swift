import Dispatch
import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Writes through caches, which draw their revisions before they reach the store.
@Suite struct EntityOrderTests {
  let store = EntityStore()
  let base = TestCache<Int, Thing>()
  let reference = Reference<Thing>(1)

  private var things: StoreBackedSource<TestCache<Int, Thing>> {
    base.through(store)
  }

  private func apply(_ change: Change<Int, Thing>) {
    _ = things.apply(change)
  }

  private func set(_ name: String, _ revision: Revision) {
    apply(.set(1, Thing(1, name), revision))
  }

  private var name: String? {
    store.get(reference)?.name
  }

  @Test func `of two sets the later one stays, whatever arrives first`() {
    let (first, second, third) = (Revision.next(), Revision.next(), Revision.next())
    set("second", second)
    set("first", first)
    #expect(name == "second")

    set("third", third)
    #expect(name == "third")
    #expect(base.contents[1]?.name == "third")
  }

  enum Write: CaseIterable { case set, equalSet, remove, removeType, removeAll, update }

  private func carryOut(_ write: Write) {
    switch write {
    case .set: store.set(Thing(1, "newer"))
    case .equalSet: store.set(Thing(1, "old"))
    case .remove: store.remove(reference)
    case .removeType: store.removeAll(of: Thing.self)
    case .removeAll: store.removeAll()
    case .update: store.update { $0.set(Thing(1, "newer")) }
    }
  }

  @Test(arguments: Write.allCases, [true, false])
  func `a write to the store wins over what was set or removed before, and arrives after it`(
    write: Write, isSet: Bool
  ) {
    store.set(Thing(1, "old"))
    let revision = Revision.next()
    carryOut(write)
    let left = store.get(reference)

    apply(isSet ? .set(1, Thing(1, "older"), revision) : .remove(1, revision))

    #expect(store.get(reference) == left)
  }

  @Test(arguments: Write.allCases, [true, false])
  func `the same holds within a transaction`(write: Write, isSet: Bool) {
    store.set(Thing(1, "old"))
    let revision = Revision.next()
    store.update { _ in
      carryOut(write)
      let left = store.get(reference)
      apply(isSet ? .set(1, Thing(1, "older"), revision) : .remove(1, revision))
      apply(.removeAll(revision))
      #expect(store.get(reference) == left)
    }
  }

  @Test(arguments: Write.allCases)
  func `within a transaction what comes later stays`(write: Write) {
    store.set(Thing(1, "old"))
    store.update { _ in
      carryOut(write)
      things.set(Thing(1, "set"), for: 1)
      #expect(name == "set")
      things.remove(1)
      #expect(name == nil)
      things.set(Thing(1, "set again"), for: 1)
      things.set(Thing(2), for: 2)
    }

    #expect(name == "set again")
    #expect(store.count == 2)
  }

  @Test func `a set and a removal do not arrive after the one that overtook them`() {
    let (first, second, third) = (Revision.next(), Revision.next(), Revision.next())
    apply(.remove(1, second))
    set("first", first)
    #expect(name == nil)

    set("third", third)
    apply(.remove(1, second))
    #expect(name == "third")
  }

  @Test(arguments: [true, false])
  func `a removal of all takes what was written before it, and nothing else`(
    isInTransaction: Bool
  ) {
    let early = Revision.next()
    set("early", early)
    store.set(Thing(2, "early"))
    let all = Revision.next()
    store.set(Thing(3, "late"))
    let late = Revision.next()
    apply(.set(4, Thing(4, "late"), late))
    let removal = Change<Int, Thing>.removeAll(all)

    if isInTransaction {
      store.update { entities in
        entities.set(Thing(5, "late"))
        apply(removal)
      }
    } else {
      apply(removal)
    }
    set("early", early)
    apply(.removeAll(early))

    let left = (1...5).filter { store.get(Reference<Thing>($0)) != nil }
    #expect(left == (isInTransaction ? [3, 4, 5] : [3, 4]))
  }

  @Test func `a removal of all in a transaction takes what the transaction has set before it`() {
    store.update { entities in
      entities.set(Thing(1))
      things.set(Thing(2), for: 2)
      things.removeAll()
      things.set(Thing(3), for: 3)
    }

    #expect(store.count == 1)
    #expect(store.get(Reference<Thing>(3)) != nil)
  }

  @Test func `a removal of all that arrives late leaves what was filled after a later one`() {
    let first = Revision.next()
    things.removeAll()
    let origin = AnyCache<Int, Thing>(
      get: { .just(Thing($0, "fetched")) }, set: { _, _ in .just(()) }, remove: { _ in .just(()) },
      removeAll: { .just(()) })
    origin.through(store).get(1).subscribe(onNext: { _ in }).dispose()

    apply(.removeAll(first))

    #expect(name == "fetched")
  }

  @Test(arguments: [true, false])
  func `a set on its way stays refused, however much is written and dropped meanwhile`(
    isRemoved: Bool
  ) {
    let revision = Revision.next()
    let pending = PendingWrite(revision)
    if isRemoved {
      store.remove(reference)
      for id in 2..<5_000 { store.remove(Reference<Thing>(id)) }
    } else {
      store.update { things in
        for id in 1..<5_000 { things.set(Thing(id)) }
      }
      store.prune()
    }

    set("older", revision)
    apply(.set(5_000, Thing(5_000), revision))
    pending.end()

    #expect(name == nil)
    #expect(store.count == 1)
  }

  @Test func `an answer to a get from before a set is not stored`() {
    let origin = TestOrigin<Int, Thing>()
    let revision = Revision.next()
    let recorder = Recorder<Thing>().subscribe(to: origin.through(store).get(1))
    set("set", revision)

    origin[1].next(Thing(1, "older"))

    #expect(recorder.values.map(\.name) == ["set"])
  }

  // MARK: Waiting for a transaction

  /// Returns the name that `change` leaves if it arrives from another thread during a transaction
  /// that does `more` then.
  private func left(
    by change: Change<Int, Door>,
    and more: (StoreBackedSource<TestCache<Int, Door>>) -> Void = { _ in }
  ) -> String? {
    let arrival = DispatchSemaphore(value: 0)
    let over = DispatchSemaphore(value: 0)
    let doors = TestCache<Int, Door>().through(store) { _ in Door.Number(arrival) }
    store.update { _ in
      store.set(Door(nil, "transaction"))
      Thread.detachNewThread {
        doors.apply(change.knocking(arrival)).subscribe { _ in over.signal() }
      }
      arrival.wait()
      // It reports under the lock, so it has arrived once the lock is free.
      _ = store.count
      more(TestCache<Int, Door>().through(store) { _ in Door.Number(nil) })
    }
    over.wait()
    return store.get(Reference<Door>(Door.Number(nil)))?.name
  }

  @Test func `a write that waits for a transaction comes after the values that this sets`() {
    #expect(left(by: .set(1, Door(nil, "waiting"), .next())) == "waiting")
    #expect(left(by: .remove(1, .next())) == nil)
    #expect(
      left(by: .set(1, Door(nil, "waiting"), .next())) { _ in store.set(Door(nil, "more")) }
        == "waiting")
  }

  @Test func `a write that waits for a transaction is overtaken by removals and sets of caches`() {
    let set = { Change<Int, Door>.set(1, Door(nil, "waiting"), .next()) }
    #expect(left(by: set()) { $0.set(Door(nil, "later"), for: 1) } == "later")
    #expect(left(by: .remove(1, .next())) { $0.set(Door(nil, "later"), for: 1) } == "later")
    #expect(left(by: set()) { $0.remove(1) } == nil)
    #expect(left(by: set()) { $0.removeAll() } == nil)
    #expect(left(by: set()) { _ in store.remove(Reference<Door>(Door.Number(nil))) } == nil)
    #expect(left(by: set()) { _ in store.removeAll(of: Door.self) } == nil)
    #expect(left(by: set()) { _ in store.removeAll() } == nil)
  }

  // MARK: Threads

  @Test func `sets by several threads leave in the store what they leave in the source`() {
    let (things, base, store) = (things, base, store)
    for _ in 0..<100 {
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        things.set(Thing(1, "\(thread)"), for: 1)
      }
      #expect(store.get(Reference<Thing>(1)) == base.contents[1])
    }
  }

  @Test func `identities that are forgotten may use the store when they are released`() {
    let store = store
    for number in 0..<5_000 {
      store.remove(Reference<Held>(Held.Number(number, store)))
    }

    #expect(store.count == 0)
  }
}

/// An entity of which there is one, and whose identity reports each look-up.
private struct Door: Entity {
  struct Number: Hashable, Sendable {
    let knock: DispatchSemaphore?

    init(_ knock: DispatchSemaphore?) {
      self.knock = knock
    }

    static func == (left: Number, right: Number) -> Bool {
      true
    }

    func hash(into hasher: inout Hasher) {
      knock?.signal()
    }
  }

  let id: Number
  let name: String

  init(_ knock: DispatchSemaphore?, _ name: String) {
    id = Number(knock)
    self.name = name
  }
}

extension Change<Int, Door> {
  /// Returns the change of an entity that knocks.
  fileprivate func knocking(_ knock: DispatchSemaphore) -> Change {
    if case .set(let key, let door, let revision) = self {
      .set(key, Door(knock, door.value.name), revision)
    } else {
      self
    }
  }
}

/// An entity whose identity uses the store at its end.
private struct Held: Entity {
  final class Number: Hashable, Sendable {
    let number: Int
    let store: EntityStore

    init(_ number: Int, _ store: EntityStore) {
      self.number = number
      self.store = store
    }

    deinit {
      _ = store.count
    }

    static func == (left: Number, right: Number) -> Bool {
      left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(number)
    }
  }

  let id: Number
}
