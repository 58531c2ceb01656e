import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Commits that concern many observers: these are found and notified in steps, between which others
/// come and go.
@Suite struct CommitNotificationTests {
  private let store = EntityStore()
  private static let count = 3_000

  /// A chain, each of which links to the next.
  init() {
    store.update { things in
      for id in 0..<Self.count { things.set(Thing(id, "old", links: [id + 1])) }
    }
  }

  /// Runs `change`, with `body` between the steps; returns their number, and the greatest number of
  /// references that one has visited.
  @discardableResult
  private func inSteps(
    _ change: () -> Void, _ body: @escaping (_ step: Int) -> Void = { _ in }
  ) -> (count: Int, longest: Int) {
    var (step, longest) = (0, 0)
    let tables = store.core.tables
    var former = tables.withLock { $0.graph.steps }
    store.core.onStep = {
      longest = max(longest, tables.withLock { $0.graph.steps } - former)
      body(step)
      step += 1
      former = tables.withLock { $0.graph.steps }
    }
    change()
    store.core.onStep = nil
    return (step, longest)
  }

  private func changeLastTwo() {
    store.update { things in
      things.set(Thing(Self.count - 2, "new", links: [Self.count - 1]))
      things.set(Thing(Self.count - 1, "new", links: [Self.count]))
    }
  }

  @Test func `the observers of a long chain are found in steps, and notified in their order`() {
    let order = Locked<[Int]>([])
    let ids = (0..<Self.count).shuffled()
    let recorders = ids.map { id in
      Recorder<EntityChange<Thing>>().subscribe(
        to: store.signal(of: Reference<Thing>(id)).onNext { change in
          if !change.causes.isEmpty { order.withLock { $0.append(id) } }
        })
    }

    let steps = inSteps { changeLastTwo() }

    #expect(steps.count > 3 * Self.count / Commit.stepSize)
    #expect(steps.longest <= Commit.stepSize)
    #expect(order.withLock { $0 } == ids)
    for (id, recorder) in zip(ids, recorders) {
      let causes = id == Self.count - 1 ? [id] : [Self.count - 2, Self.count - 1]
      #expect(recorder.causes == [[], causes], "\(id)")
    }
  }

  @Test func `an observer from between the steps has the new state, and hears what follows`() {
    let early = (0..<Self.count).map { store.recorder(of: $0) }
    var late: [Recorder<EntityChange<Thing>>] = []
    store.update { things in
      for head in 1...100 { things.set(Thing(-head, "head", links: [0])) }
    }

    let steps = inSteps {
      changeLastTwo()
    } _: { [self] step in
      late.append(store.recorder(of: step % 2 == 0 ? -1 - step : Self.count - 1))
    }

    #expect(late.count == steps.count && late.allSatisfy { $0.values.count == 1 })
    #expect(late.count > 1 && late[1].names == ["new"])
    store.set(Thing(Self.count, "last"))
    #expect(late.allSatisfy { $0.causes == [[], [Self.count]] })
    #expect(early.allSatisfy { $0.causes.last == [Self.count] })
  }

  @Test func `an observer that leaves between the steps hears nothing, and the others hear it`() {
    var recorders = (0..<Self.count).map { store.recorder(of: $0) }
    var gone: [Recorder<EntityChange<Thing>>] = []

    inSteps {
      changeLastTwo()
    } _: { _ in
      for _ in 0..<10 {
        if let last = recorders.popLast() { gone.append(last) }
        gone.last?.dispose()
      }
    }

    #expect(gone.count > 100 && gone.allSatisfy { $0.values.count == 1 })
    #expect(recorders.allSatisfy { $0.values.count == 2 })
    let isWalked = store.core.tables.withLock { $0.graph.isWalked }
    #expect(!isWalked)
  }

  @Test func `marks of many that have left are wiped by the next commit, in steps`() {
    let staying = store.recorder(of: Self.count - 10)
    for id in 0..<Self.count { store.recorder(of: id).dispose() }
    let stale = store.core.tables.withLock { $0.graph.markedCount }
    let list = Recorder<[EntityListChange<Thing>]>()
    list.subscribe(to: store.query(Thing.self, depth: 1).changes)
    var late: [Recorder<EntityChange<Thing>>] = []

    let steps = inSteps {
      store.set(Person(id: "a"))
    } _: { [self] step in
      late.append(store.recorder(of: 2_000 + step))
    }

    #expect(stale > Self.count / 2 && steps.count > 2)
    store.set(Thing(Self.count, "last"))
    #expect(staying.causes == [[], [Self.count]])
    #expect(late.allSatisfy { $0.causes == [[], [Self.count]] })
    #expect(list.values.map(\.count) == [Self.count, 2])
    for recorder in late { recorder.dispose() }
    list.dispose()
    store.set(Person(id: "b"))
    store.set(Person(id: "c"))
    #expect(store.core.tables.withLock { $0.graph.markedCount } < 100)
  }

  @Test func `an observer that comes while a list is notified hides no entity from it`() {
    let ids = 10_000..<10_000 + Self.count
    store.update { things in
      things.set(Thing(-1, "old"))
      for id in ids { things.set(Thing(id, links: [-1])) }
    }
    let list = Recorder<[EntityListChange<Thing>]>()
    list.subscribe(to: store.query(Thing.self, depth: 1).changes)
    var late: [Recorder<EntityChange<Thing>>] = []

    inSteps {
      store.set(Thing(-1, "new"))
    } _: { [self] step in
      if step > 0 { return }
      late = (ids.prefix(20) + ids.suffix(20)).map { store.recorder(of: $0) }
    }

    #expect(list.values.last?.count == Self.count + 1)
    store.set(Thing(-1, "newest"))
    #expect(late.count == 40 && late.allSatisfy { $0.causes == [[], [-1]] })
  }

  @Test func `many observers of one entity are notified in steps, each once`() {
    var recorders = (0..<Self.count).map { _ in store.recorder(of: 5) }
    let other = store.recorder(of: 6)
    var (late, gone): ([Recorder<EntityChange<Thing>>], _) = ([], recorders.prefix(0))

    let steps = inSteps {
      store.set(Thing(5, "new", links: [6]))
    } _: { [self] step in
      late.append(store.recorder(of: 5))
      recorders.removeLast().dispose()
      gone = recorders[5 * step..<5 * step + 3]
      for recorder in gone { recorder.dispose() }
    }

    #expect(steps.count >= Self.count / Commit.stepSize)
    #expect(late.allSatisfy { $0.names == ["new"] } && other.values.count == 1)
    let heard = recorders.filter { $0.names == ["old", "new"] }
    let left = recorders.filter { $0.names == ["old"] }
    #expect(heard.count + left.count == recorders.count && left.count == 3 * steps.count)
    store.set(Thing(6, "newer", links: [7]))
    #expect(late.allSatisfy { $0.causes == [[], [6]] })
    #expect(heard.allSatisfy { $0.causes == [[], [5], [6]] })
  }

  @Test func `a list with all references is notified along a long chain, and so are later ones`() {
    let list = Recorder<[EntityListChange<Thing>]>()
    list.subscribe(to: store.query(Thing.self, depth: .max).changes)
    let late = Recorder<[EntityListChange<Thing>]>()
    let watcher = store.recorder(of: 0)

    let steps = inSteps {
      changeLastTwo()
    } _: { [self] step in
      if step == 1 { late.subscribe(to: store.query(Thing.self, depth: .max).changes) }
    }

    #expect(steps.count > Self.count / Commit.stepSize && steps.longest <= Commit.stepSize)
    #expect(list.values.map(\.count) == [Self.count, Self.count])
    #expect(late.values.map(\.count) == [Self.count])
    #expect(watcher.causes == [[], [Self.count - 2, Self.count - 1]])
    store.set(Thing(Self.count - 1, "newest", links: [Self.count]))
    #expect(list.values.count == 3 && late.values.map(\.count) == [Self.count, Self.count])
  }

  @Test func `a list that leaves between the steps leaves no edits for the next one`() {
    let list = Recorder<[EntityListChange<Thing>]>()
    list.subscribe(to: store.query(Thing.self, depth: .max).changes)
    let watchers = (0..<Self.count).map { store.recorder(of: $0) }

    inSteps {
      changeLastTwo()
    } _: { step in
      if step == 0 { list.dispose() }
    }

    let next = Recorder<[EntityListChange<Thing>]>()
    next.subscribe(to: store.query(Thing.self, depth: .max).changes)
    store.set(Person(id: "a"))
    #expect(next.values.count == 1 && watchers.allSatisfy { $0.values.count == 2 })
  }

  @Test(arguments: [3, 1_000])
  func `however many entities change, each observer receives those below it`(observed: Int) {
    let ids = (0..<observed).map { $0 * (Self.count / observed) }
    let recorders = ids.map { store.recorder(of: $0) }
    let changed = stride(from: 1, to: Self.count, by: 7).shuffled()

    store.update { things in
      for id in changed { things.set(Thing(id, "new", links: [id + 1])) }
    }

    for (id, recorder) in zip(ids, recorders) {
      #expect(recorder.causes.last == changed.filter { $0 >= id }, "\(id)")
    }
  }

  @Test func `notices show the values of their own commit, also while another waits`() {
    let names = Locked<[String]>([])
    let observer = store.signal(of: Reference<Thing>(0)).subscribe { [store] event in
      guard case .next(let change) = event, let name = change.value?.name else { return }
      names.withLock { $0.append(name) }
      if name == "1" { store.set(Thing(0, "2", links: [1])) }
    }
    let others = (0..<Self.count).map { _ in store.recorder(of: 0) }

    store.set(Thing(0, "1", links: [1]))

    #expect(names.withLock { $0 } == ["old", "1", "2"])
    #expect(others.allSatisfy { $0.names == ["old", "1", "2"] })
    observer.dispose()
  }
}

/// The observers of one entity.
@Suite struct ObserverListTests {
  @Test(arguments: 0..<10)
  func `observers are visited in their order, also after others have left`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var (list, expected) = (ObserverList(), [Int]())
    for number in 1...500 {
      list.add(NodeObserver { _, _ in {} }, number)
      expected.append(number)
      while Bool.random(using: &random), let gone = expected.randomElement(using: &random) {
        expected.removeAll { $0 == gone }
        #expect(list.remove(gone) != nil && list.remove(gone) == nil)
      }
      let (first, last) = (Int.random(in: 0...number, using: &random), number - 1)
      var found: [Int] = []
      list.forEach(after: first, upTo: last) { number, _ in
        found.append(number)
        return found.count < 5
      }
      #expect(found == Array(expected.filter { $0 > first && $0 <= last }.prefix(5)))
      #expect(list.isEmpty == expected.isEmpty)
    }
  }
}
