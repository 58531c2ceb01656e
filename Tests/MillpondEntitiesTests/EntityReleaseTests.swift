import Dispatch
import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Calls that users' objects may make when the store releases them.
@Suite struct EntityReleaseTests {
  let store = EntityStore()
  private let reference = Reference<Loaded>(1)

  private func loaded(_ name: String, _ onRelease: @escaping @Sendable () -> Void = {}) -> Loaded {
    Loaded(id: 1, name: name, load: Load(onRelease))
  }

  @Test func `a value that a transaction replaces may read and write when it is released`() {
    let store = store
    store.update { things in
      things.set(
        loaded("first") {
          let name = store.get(Reference<Loaded>(1))?.name
          store.set(Thing(1, "released before \(name ?? "–")"))
        })
      things.set(loaded("second"))
    }

    #expect(store.get(Reference<Thing>(1))?.name == "released before second")
    #expect(store.get(reference)?.name == "second")
  }

  @Test func `a value that is undone may read and write when it is released`() {
    let store = store
    store.update { things in
      things.set(loaded("outer"))
      try? store.update { things in
        things.set(
          Loaded(
            id: 2, name: "inner", load: Load { _ = store.get(Reference<Loaded>(2)) }))
        things.set(
          loaded("inner") {
            let name = store.get(Reference<Loaded>(1))?.name
            store.set(Thing(1, "released before \(name ?? "–")"))
          })
        throw Refusal()
      }
    }

    #expect(store.get(reference)?.name == "outer")
    #expect(store.get(Reference<Loaded>(2)) == nil)
    #expect(store.get(Reference<Thing>(1))?.name == "released before outer")
  }

  /// A cause of a value's release.
  enum Release: CaseIterable, Sendable { case set, equalSet, remove, removeAll, prune, failure }

  @Test(arguments: Release.allCases)
  func `a value that is released may wait for another thread that writes`(release: Release) {
    let store = store
    let hasWritten = Locked(false)
    let waiting: @Sendable () -> Void = { [store] in
      let written = store.writesElsewhere(Thing(1))
      hasWritten.withLock { $0 = written }
    }
    switch release {
    case .equalSet:
      store.set(loaded("old"))
      store.set(loaded("old", waiting))
    case .failure:
      try? store.update { things in
        things.set(loaded("undone", waiting))
        throw Refusal()
      }
    default:
      store.set(loaded("old", waiting))
    }

    switch release {
    case .set: store.set(loaded("new"))
    case .remove: store.remove(reference)
    case .removeAll: store.removeAll()
    case .prune: store.prune()
    case .equalSet, .failure: break
    }

    #expect(hasWritten.withLock { $0 })
  }

  @Test
  func `an identity without references may wait for a writer when it is released`() {
    let (store, hasWritten) = (store, Locked<[Bool]>([]))
    let onRelease: @Sendable () -> Void = {
      let isDone = store.writesElsewhere(Thing(1))
      hasWritten.withLock { $0.append(isDone) }
    }
    store.set(Owner(id: 1, onRelease: onRelease))
    let early = hasWritten.withLock { $0.count }

    store.set(Owner(id: 1, onRelease: nil))

    #expect(early == 0)
    #expect(hasWritten.withLock { $0 } == [true])
  }

  /// Ways to observe a store.
  enum Observing: CaseIterable, Sendable { case entity, query, end }

  @Test(arguments: Observing.allCases)
  func `an object that an observer has captured may wait for a writer in its deinit`(
    observing: Observing
  ) {
    let (store, hasWritten) = (store, Locked<[Bool]>([]))
    var load: Load? = Load {
      let isDone = store.writesElsewhere(Thing(1))
      hasWritten.withLock { $0.append(isDone) }
    }
    let use: @Sendable (Load?) -> Void = { _ in }
    let subscription =
      switch observing {
      case .entity, .end:
        store.signal(of: reference).subscribe(onNext: { [load] _ in use(load) })
      case .query: store.query(Loaded.self).values.subscribe(onNext: { [load] _ in use(load) })
      }
    load = nil

    if observing == .end { store.end() } else { subscription.dispose() }

    #expect(hasWritten.withLock { $0 } == [true])
  }

  @Test func `neither a scope nor an owner keeps values of a store that is gone`() {
    let living = Locked(0)
    let scope = CacheScope()
    var store: EntityStore? = EntityStore(scope: scope)
    store?.set(Loaded(id: 1, name: "a", load: Load(living)))
    let retained = store?.retain(reference)
    let alive = living.withLock { $0 }

    store = nil

    #expect(alive == 1)
    #expect(living.withLock { $0 } == 0)
    retained?.dispose()
    scope.end()
  }

  @Test func `an owner that lets go leaves nothing behind`() {
    let living = Locked(0)
    do {
      let store = EntityStore(countLimit: 50)
      for id in 0..<100 { store.set(Bulky(id: id, load: Load(living))) }
      let observers = (90..<100).map { id in
        Recorder<EntityChange<Bulky>>().subscribe(to: store.signal(of: Reference(id)))
      }
      let query = Recorder<[Bulky]>().subscribe(to: store.query(Bulky.self).values)
      store.remove(Reference<Bulky>(99))
      observers[0].dispose()
      query.dispose()
    }

    #expect(living.withLock { $0 } == 0)
  }
}

/// An entity with an object that does something at its end.
private struct Loaded: Entity {
  let id: Int
  let name: String
  let load: Load

  static func == (left: Loaded, right: Loaded) -> Bool {
    left.name == right.name
  }
}

/// Something that is counted while it lives.
private struct Bulky: Entity {
  let id: Int
  let load: Load

  static let relations: [Relation<Bulky>] = [Relation { [Reference<Bulky>($0.id + 1)] }]

  static func == (left: Bulky, right: Bulky) -> Bool {
    left.load === right.load
  }
}

/// An entity that refers to one that is never stored, by an identity without other references.
private struct Owner: Entity {
  let id: Int
  let onRelease: (@Sendable () -> Void)?

  static let relations: [Relation<Owner>] = [
    Relation { owner in owner.onRelease.map { [Reference<Owned>(Token($0))] } ?? [] }
  ]

  static func == (left: Owner, right: Owner) -> Bool {
    (left.onRelease == nil) == (right.onRelease == nil)
  }
}

private struct Owned: Entity {
  let id: Token
}

/// An identity that does something at its end.
private final class Token: Hashable, Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
  }

  static func == (left: Token, right: Token) -> Bool {
    left === right
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

private final class Load: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  convenience init(_ living: Locked<Int>) {
    living.withLock { $0 += 1 }
    self.init { living.withLock { $0 -= 1 } }
  }

  deinit {
    onRelease()
  }
}

extension EntityStore {
  /// Sets something by a thread of its own; false if that has to wait for this one.
  fileprivate func writesElsewhere(_ thing: Thing) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      self.set(thing)
      done.signal()
    }
    return done.wait(timeout: .now() + .seconds(10)) == .success
  }
}
