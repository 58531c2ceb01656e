import Dispatch
import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Sources that keep working after cancellation, and answer after a newer write.
@Suite struct LateEntityTests {
  let origin = CallbackSource<Thing>()
  let store = EntityStore()
  let reference = Reference<Thing>(1)
  let recorder = Recorder<Thing>()

  private var things: StoreBackedSource<Callbacks> {
    Callbacks(source: origin).through(store)
  }

  private func answer(_ run: Int = 0, _ name: String = "older") {
    origin.runs[run].send(.next(Thing(1, name)))
  }

  private var name: String? {
    store.get(reference)?.name
  }

  // MARK: Leaving

  @Test(arguments: [true, false])
  func `the answer to a cancelled get is not stored`(isStored: Bool) {
    if isStored { store.set(Thing(1, "kept")) }
    recorder.subscribe(to: things.get(1))
    recorder.dispose()

    answer()

    #expect(name == (isStored ? "kept" : nil))
    #expect(recorder.transcript.isEmpty)
  }

  @Test(arguments: [true, false])
  func `an answer is not stored if the last subscriber leaves while it is under way`(
    isInTransaction: Bool
  ) {
    let leaving = Callbacks(source: origin) { [recorder] in recorder.dispose() }
    recorder.subscribe(to: leaving.through(store).get(1))

    if isInTransaction { store.update { _ in answer() } } else { answer() }

    #expect(store.count == 0)
    #expect(recorder.transcript.isEmpty)
  }

  @Test func `an answer that waits for its turn is not stored if its last subscriber has left`() {
    let (comes, over) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let waiting = Callbacks(source: origin) { comes.signal() }
    recorder.subscribe(to: waiting.through(store).get(1))
    let run = origin.runs[0]

    store.update { _ in
      Thread.detachNewThread {
        run.send(.next(Thing(1, "older")))
        over.signal()
      }
      comes.wait()
      recorder.dispose()
    }
    over.wait()

    #expect(store.count == 0)
    #expect(recorder.transcript.isEmpty)
  }

  @Test func `a caller that leaves keeps nothing from being stored for those that stay`() {
    let shared = Callbacks(source: origin).reusingInFlight().through(store)
    let other = Recorder<Thing>().subscribe(to: shared.get(1))
    recorder.subscribe(to: shared.get(1))
    other.dispose()

    answer(0, "fetched")

    #expect(origin.subscriptions == 1)
    #expect(name == "fetched")
    #expect(recorder.values.map(\.name) == ["fetched"])
  }

  @Test func `an answer to a get from before an end is not stored for the next user`() {
    recorder.subscribe(to: things.get(1))
    store.end()

    answer()

    #expect(store.count == 0)
  }

  // MARK: Writes that come between

  enum Write: CaseIterable {
    case set, equalSet, remove, removeType, removeAll, setAndPrune, setAndEvict
  }

  private func carryOut(_ write: Write, in store: EntityStore) {
    switch write {
    case .set, .setAndPrune, .setAndEvict: store.set(Thing(1, "newer"))
    case .equalSet: store.set(Thing(1, "old"))
    case .remove: store.remove(reference)
    case .removeType: store.removeAll(of: Thing.self)
    case .removeAll: store.removeAll()
    }
  }

  @Test(arguments: Write.allCases, [true, false])
  func `a write after the start of a get wins over its answer`(
    write: Write, isInTransaction: Bool
  ) {
    let store = EntityStore(countLimit: 2)
    store.set(Thing(1, "old"))
    recorder.subscribe(to: Callbacks(source: origin).through(store).get(1))
    if isInTransaction {
      store.update { _ in carryOut(write, in: store) }
    } else {
      carryOut(write, in: store)
    }
    if write == .setAndPrune { store.prune() }
    if write == .setAndEvict { for id in 2...4 { store.set(Thing(id)) } }
    let left = store.get(reference)

    answer()

    #expect(store.get(reference) == left)
    let names: [Write: String] = [.set: "newer", .equalSet: "old"]
    #expect(left?.name == names[write])
  }

  @Test(arguments: Write.allCases.dropLast(2), [true, false])
  func `a transaction's write wins over the answer to a get that it started`(
    write: Write, isAskedFirst: Bool
  ) {
    store.set(Thing(1, "old"))
    store.update { _ in
      if isAskedFirst { recorder.subscribe(to: things.get(1)) }
      carryOut(write, in: store)
      if !isAskedFirst { recorder.subscribe(to: things.get(1)) }
    }
    let left = store.get(reference)

    answer()

    #expect(store.get(reference) == left)
  }

  @Test(arguments: Write.allCases.dropLast(2))
  func `a transaction's write wins over an answer that arrives during it`(write: Write) {
    store.set(Thing(1, "old"))
    recorder.subscribe(to: things.get(1))

    store.update { _ in
      carryOut(write, in: store)
      let left = store.get(reference)
      answer()
      #expect(store.get(reference) == left)
    }
  }

  @Test func `an answer to a get within a transaction after a removal is stored`() {
    store.set(Thing(1, "old"))

    store.update { _ in
      store.removeAll(of: Thing.self)
      store.removeAll()
      recorder.subscribe(to: things.get(2))
      origin.next(Thing(2, "fetched"))
    }

    #expect(store.get(Reference<Thing>(2))?.name == "fetched")
    #expect(name == nil)
  }

  @Test func `a removal that is undone refuses no answer`() {
    store.set(Thing(1, "old"))
    recorder.subscribe(to: things.get(1))

    store.update { _ in
      try? store.update { things in
        things.remove(reference)
        throw Refusal()
      }
      answer(0, "fetched")
    }

    #expect(name == "fetched")
  }

  @Test func `an answer in a transaction that throws is undone, and the next one is not`() {
    recorder.subscribe(to: things.get(1))

    try? store.update { _ in
      answer()
      throw Refusal()
    }
    let undone = name
    let again = Recorder<Thing>().subscribe(to: things.get(1))
    answer(1, "fetched")

    #expect(undone == nil)
    #expect(name == "fetched")
    #expect(again.values.map(\.name) == ["fetched"])
  }

  @Test func `a prune is not a write: a later answer stores a pruned entity again`() {
    store.set(Thing(2, "old"))
    let asking = Recorder<Thing>().subscribe(to: things.get(2))

    store.prune()
    let pruned = store.count
    origin.next(Thing(2, "fetched"))

    #expect(pruned == 0)
    #expect(asking.values.map(\.name) == ["fetched"])
  }

  @Test func `an answer does not replace that of a reload which was asked for later`() {
    let reloading = Recorder<Thing>()
    recorder.subscribe(to: things.get(1))
    reloading.subscribe(to: things.get(1, freshness: .reload))
    answer(1, "reloaded")

    answer()

    #expect(name == "reloaded")
    #expect(reloading.values.map(\.name) == ["reloaded"])
    answer(1, "reloaded again")
    #expect(name == "reloaded again")
  }

  @Test func `an answer replaces that of a question which was asked for later`() {
    let later = Recorder<Thing>()
    recorder.subscribe(to: things.get(1))
    later.subscribe(to: things.get(1))
    answer(1, "first")

    answer(0, "second")

    #expect(name == "second")
  }

  // MARK: Many others

  enum Crowd: CaseIterable { case one, type, transaction }

  @Test(arguments: [10, 1_100, 2_100, 5_000], Crowd.allCases)
  func `a removal during a get holds, however many other entities are removed`(
    count: Int, crowd: Crowd
  ) {
    store.set(Thing(1, "old"))
    recorder.subscribe(to: things.get(1))
    switch crowd {
    case .one, .transaction: store.remove(reference)
    case .type: store.removeAll(of: Thing.self)
    }

    if crowd == .transaction {
      store.update { things in
        for id in 2..<count { things.remove(Reference<Thing>(id)) }
      }
    } else {
      for id in 2..<count { store.remove(Reference<Thing>(id)) }
    }
    answer()
    origin.completed()

    #expect(name == nil)
    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a value set and pruned during a get stays pruned, however much else is pruned`() {
    recorder.subscribe(to: things.get(1))
    store.update { things in
      for id in 1...5_000 { things.set(Thing(id)) }
    }
    store.prune()

    answer()

    #expect(store.count == 0)
  }

  enum Other: CaseIterable { case sets, transaction, prune, removals, otherType }

  @Test(arguments: Other.allCases)
  func `changes of other entities refuse no answer`(other: Other) {
    store.update { things in
      for id in 2...2_000 { things.set(Thing(id)) }
    }
    recorder.subscribe(to: things.get(1))
    switch other {
    case .sets: for id in 2...2_000 { store.set(Thing(id, "new")) }
    case .transaction:
      store.update { things in
        for id in 2...2_000 { things.set(Thing(id, "new")) }
      }
    case .prune: store.prune()
    case .removals: for id in 2...1_000 { store.remove(Reference<Thing>(id)) }
    case .otherType:
      for id in 1...2_000 { store.remove(Reference<Person>("\(id)")) }
      store.removeAll(of: Person.self)
    }

    answer(0, "fetched")

    #expect(name == "fetched")
    #expect(recorder.values.map(\.name) == ["fetched"])
  }

  // MARK: Threads

  @Test(arguments: [Write.set, .remove, .removeType, .removeAll])
  func `a write wins over an answer that arrives at the same time`(write: Write) {
    let (store, origin) = (store, origin)
    let things = things
    for round in 0..<200 {
      let recorder = Recorder<Thing>().subscribe(to: things.get(1))
      DispatchQueue.concurrentPerform(iterations: 3) { thread in
        switch thread {
        case 0: origin.runs[round].send(.next(Thing(1, "older")))
        case 1: carryOut(write, in: store)
        default: for id in 2..<6 { store.remove(Reference<Thing>(id)) }
        }
      }
      #expect(name == (write == .set ? "newer" : nil))
      recorder.dispose()
    }
  }
}

/// A source that sends the events of callbacks, also to subscribers that have left.
private struct Callbacks: Source {
  let source: CallbackSource<Thing>

  /// Called with each answer, before it is passed on.
  var onAnswer: @Sendable () -> Void = {}

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Thing> {
    source.signal.map { [onAnswer] thing in
      onAnswer()
      return thing
    }
  }
}
