import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Closures whose work goes on after they have returned.
@Suite struct SlowClosureTests {
  /// A store whose sets wait until they are let through.
  final class SlowStore: Sendable {
    let values = Locked<[Int: Int]>([:])
    let pipes = Locked<[Int: PublishSubject<Void>]>([:])

    var cache: AnyCache<Int, Int> { cache(hasRemove: true) }
    var cacheWithoutRemove: AnyCache<Int, Int> { cache(hasRemove: false) }

    private func cache(hasRemove: Bool) -> AnyCache<Int, Int> {
      let remove: @Sendable (Int) -> Signal<Void> = { [values] key in
        values.withLock { $0[key] = nil }
        return .just(())
      }
      return AnyCache(
        get: { [values] key in values.withLock { $0[key] }.map { .just($0) } ?? .empty },
        set: { [values, pipes] value, key in
          let pipe = PublishSubject<Void>()
          pipes.withLock { $0[value] = pipe }
          return pipe.signal.onNext { _ in values.withLock { $0[key] = value } }
        },
        remove: hasRemove ? remove : nil,
        removeAll: { [values] in
          values.withLock { $0 = [:] }
          return .just(())
        },
        removeMatching: { [values] isRemoved in
          values.withLock { values in values = values.filter { !isRemoved($0.key) } }
          return .just(())
        })
    }

    var contents: [Int: Int] { values.withLock { $0 } }
    var begun: Set<Int> { Set(pipes.withLock { $0.keys }) }

    func finish(_ value: Int) {
      let pipe = pipes.withLock { $0[value] }
      pipe?.next(())
      pipe?.completed()
    }

    func fail(_ value: Int) {
      pipes.withLock { $0[value] }?.failed(Refused())
    }
  }

  let store = SlowStore()

  @Test func `the end of a scope erases what a slow set was storing`() {
    let session = CacheScope()
    let scoped = store.cache.scoped(to: session)
    scoped.set(1, for: 1)

    let end = Recorder<Void>().subscribe(to: session.end())
    #expect(!end.isCompleted)
    store.finish(1)

    #expect(end.isCompleted && store.contents.isEmpty)
  }

  @Test func `the end of a scope erases what a slow fill was storing`() {
    let session = CacheScope()
    let origin = TestOrigin<Int, Int>()
    let scoped = store.cache.layered(over: origin).scoped(to: session)
    let asked = Recorder<Int>().subscribe(to: scoped.get(1))
    origin[1].next(5)
    origin[1].completed()
    #expect(asked.values == [5] && store.begun == [5])

    let end = Recorder<Void>().subscribe(to: session.end())
    store.finish(5)

    #expect(end.isCompleted && store.contents.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a removal of a key removes also what an earlier set stores later`(succeeds: Bool) {
    let cache = store.cache
    cache.set(1, for: 1)
    let removal = Recorder<Void>().subscribe(to: cache.remove(1))
    #expect(removal.events.isEmpty)

    if succeeds { store.finish(1) } else { store.fail(1) }

    #expect(removal.isCompleted)
    #expect(store.contents.isEmpty)
  }

  @Test func `writes do not wait for each other`() {
    let cache = store.cache
    cache.set(1, for: 1)
    cache.set(2, for: 1)
    cache.set(3, for: 2)

    #expect(store.begun == [1, 2, 3])
  }

  @Test func `a set after a removal stays, also when an earlier set ends later`() {
    let cache = store.cache
    cache.set(1, for: 1)
    cache.set(2, for: 2)
    let removals = [cache.removeAll(), cache.remove(1), cache.removeAll { $0 == 2 }]
      .map { Recorder<Void>().subscribe(to: $0) }
    cache.set(3, for: 2)

    store.finish(3)
    store.finish(1)
    store.finish(2)

    let areAllDone = removals.allSatisfy { $0.isCompleted }
    #expect(areAllDone)
    // The two sets of key 2 have no order of their own, but no removal has taken the later one.
    #expect(store.contents.keys.sorted() == [2])
  }

  @Test(arguments: [true, false], [true, false])
  func `a removal that waits for a set leaves what was filled meanwhile`(
    isOfAll: Bool, hasRemove: Bool
  ) {
    let cache = hasRemove ? store.cache : store.cacheWithoutRemove
    cache.set(1, for: 1)
    let removal = Recorder<Void>().subscribe(
      to: isOfAll ? cache.removeAll() : cache.removeAll { $0 < 3 })
    cache.apply(.fill(2, Stamped(2), FillToken())).subscribe()
    store.finish(2)

    store.finish(1)

    #expect(removal.isCompleted)
    #expect(store.contents == [2: 2])
  }

  @Test(arguments: [true, false])
  func `a removal that fails while a set is under way fails, and is not repeated`(isOfAll: Bool) {
    let refusing = AnyCache<Int, Int>(
      get: { _ in .empty }, set: { [store] value, key in store.cache.set(value, for: key) },
      remove: { [store] key in store.cache.remove(key) },
      removeAll: { .fail(Refused()) }, removeMatching: { _ in .fail(Refused()) })
    refusing.set(1, for: 1)

    let removal = Recorder<Void>().subscribe(
      to: isOfAll ? refusing.removeAll() : refusing.removeAll { $0 < 3 })
    store.finish(1)

    #expect(removal.failure is Refused)
    #expect(store.contents == [1: 1])
  }

  @Test func `a removal ends only when its own work has ended too`() {
    let (store, erasure) = (store, PublishSubject<Void>())
    let slow = AnyCache<Int, Int>(
      get: { _ in .empty }, set: { value, key in store.cache.set(value, for: key) },
      remove: { key in store.cache.remove(key) }, removeAll: { erasure.signal })
    slow.set(1, for: 1)
    let removal = Recorder<Void>().subscribe(to: slow.removeAll())
    store.finish(1)
    #expect(removal.events.isEmpty)

    erasure.next(())
    erasure.completed()

    #expect(removal.isCompleted)
    #expect(store.contents.isEmpty)
  }

  @Test func `a removal without a closure for it fails also while a set is under way`() {
    let erased = Locked(0)
    let cache = AnyCache<Int, Int>(
      get: { _ in .empty }, set: { [store] value, key in store.cache.set(value, for: key) },
      removeAll: {
        erased.withLock { $0 += 1 }
        return .just(())
      })
    cache.set(1, for: 1)

    let removals = [cache.remove(1), cache.removeAll { $0 == 1 }]
      .map { Recorder<Void>().subscribe(to: $0) }
    store.finish(1)

    for removal in removals {
      guard case CacheError.unsupported? = removal.failure else {
        Issue.record("\(removal.transcript)")
        continue
      }
    }
    #expect(erased.withLock { $0 } == 0)
    #expect(store.contents == [1: 1])
  }

  @Test func `ten thousand removals wait for a set without overflow`() {
    let cache = store.cache
    cache.set(-1, for: 1)
    let removals = Locked(0)
    for _ in 0..<10_000 {
      cache.remove(1).subscribe(onCompleted: { removals.withLock { $0 += 1 } })
    }

    store.finish(-1)

    #expect(removals.withLock { $0 } == 10_000)
    #expect(store.contents.isEmpty)
  }

  @Test func `a fill that fails leaves no older value, and no answer to an older get`() {
    let cache = store.cache
    store.values.withLock { $0 = [1: 1, 2: 1] }
    let older = FillToken()

    let fill = Recorder<Void>().subscribe(
      to: cache.apply(.fill(1, Stamped(2), FillToken(isReload: true))))
    store.fail(2)
    let late = Recorder<Void>().subscribe(to: cache.apply(.fill(1, Stamped(3), older)))

    #expect(fill.failure is Refused)
    #expect(late.transcript == ["completed"])
    #expect(store.contents == [2: 1])
  }

  @Test func `a fill that fails after a set leaves what was set`() {
    let cache = store.cache
    cache.apply(.fill(1, Stamped(2), FillToken())).subscribe()
    cache.set(3, for: 1).subscribe()
    store.finish(3)

    store.fail(2)

    #expect(store.contents == [1: 3])
  }
}
