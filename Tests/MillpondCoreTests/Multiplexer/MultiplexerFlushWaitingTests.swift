import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Flushes while the persistence is still saving.
@Suite struct MultiplexerFlushWaitingTests {
  let kept = TestCache<Int, String>()
  let origin = TestOrigin<Int, String>()
  let saving = TestSource<Void>()
  let users: MultiplexerMap<Int, String>

  init() {
    let (kept, saving) = (self.kept, self.saving)
    let disk = AnyCache<Int, String>(
      get: { kept.get($0, Lookup()) },
      set: { value, key in saving.signal.flatMap { kept.set(value, for: key) } },
      remove: { kept.remove($0) }, removeAll: { kept.removeAll() })
    users = MultiplexerMap(over: origin, persistence: Persistence(disk))
  }

  func save() {
    saving.next(())
    saving.completed()
  }

  @Test(arguments: [true, false])
  func `a flush waits for what is being saved, and then has it stored`(isFetched: Bool) {
    if isFetched {
      users.get(1).subscribe()
      origin[1].next("one")
      origin[1].completed()
    } else {
      users.set("one", for: 1)
    }
    let flush = Recorder<Void>().subscribe(to: users.flush())
    #expect(flush.end == nil && kept.contents.isEmpty)

    save()

    #expect(flush.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test func `a value whose saving fails while a flush waits is saved again by that flush`() {
    users.set("one", for: 1)
    let flush = Recorder<Void>().subscribe(to: users.flush())
    saving.failed(Refused())
    #expect(flush.end == nil)

    save()

    #expect(flush.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test func `a flush fails if what it waits for can't be saved, and the next one saves it`() {
    users.set("one", for: 1)
    let flush = Recorder<Void>().subscribe(to: users.flush())
    for _ in 1...2 { saving.failed(Refused()) }
    #expect(flush.failure is Refused)
    let second = Recorder<Void>().subscribe(to: users.flush())

    save()

    #expect(second.isCompleted)
    #expect(kept.contents == [1: "one"])
  }

  @Test func `a flush does not wait for what is saved already`() {
    users.set("one", for: 1)
    save()

    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)
  }

  @Test
  func `a set that fails after a later one was saved hides no value, and leaves nothing unsaved`() {
    let first = TestSource<Void>()
    let users = MultiplexerMap<Int, String>(
      over: origin, countLimit: 1,
      persistence: Persistence(
        SlowChanges(base: kept, outcome: first.signal) { change in
          if case .set(_, let stamped, _) = change { stamped.value == "one" } else { false }
        }))
    users.set("one", for: 1)
    users.set("two", for: 1)

    first.failed(Refused())
    users.set("other", for: 2)

    let found = Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly))
    #expect(found.values == ["two"])
    #expect(Recorder<Void>().subscribe(to: users.flush()).isCompleted)
  }

  @Test(arguments: [true, false])
  func `a removal of many keys that fails late hides no value that was saved meanwhile`(
    isOfAll: Bool
  ) {
    let removal = TestSource<Void>()
    let users = MultiplexerMap<Int, String>(
      over: origin, countLimit: 1,
      persistence: Persistence(
        SlowChanges(base: kept, outcome: removal.signal) { change in
          switch change {
          case .removeAll, .removeMatching: true
          case .set, .remove, .fill: false
          }
        }))
    users.set("before", for: 3)
    _ = isOfAll ? users.removeAll() : users.removeAll { _ in true }
    users.set("late", for: 1)
    users.set("other", for: 2)

    removal.failed(Refused())

    let found = Recorder<String>().subscribe(to: users.get(1, freshness: .cachedOnly))
    #expect(found.values == ["late"])
    let earlier = Recorder<String>().subscribe(to: users.get(3, freshness: .cachedOnly))
    #expect(earlier.values == [])
  }
}

/// A cache of which some changes are not carried out, and end later.
private struct SlowChanges: Cache, AnsweringSource {
  let base: TestCache<Int, String>
  let outcome: Signal<Void>
  let isSlow: @Sendable (Change<Int, String>) -> Bool

  func answers(_ key: Int, _ lookup: Lookup) -> Signal<Answer<String>> { base.answers(key, lookup) }

  func apply(_ change: Change<Int, String>) -> Signal<Void> {
    isSlow(change) ? outcome : base.apply(change)
  }
}
