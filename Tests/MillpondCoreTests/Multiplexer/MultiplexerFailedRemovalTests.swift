import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Removals that the persistence fails to carry out.
@Suite struct MultiplexerFailedRemovalTests {
  let kept = TestCache<Int, String>()
  let origin = TestOrigin<Int, String>()
  let scope = CacheScope()
  let isRefusing = Locked(true)
  let users: MultiplexerMap<Int, String>

  init() {
    let (kept, isRefusing) = (self.kept, self.isRefusing)
    let disk = AnyCache<Int, String>(
      get: { kept.get($0, Lookup()) }, set: { kept.set($0, for: $1) },
      remove: { isRefusing.withLock { $0 } ? .fail(Refused()) : kept.remove($0) },
      removeAll: { isRefusing.withLock { $0 } ? .fail(Refused()) : kept.removeAll() })
    users = MultiplexerMap(over: origin, persistence: Persistence(disk), scope: scope)
  }

  enum Removal: CaseIterable {
    case ofKey, ofAll, endOfScope
  }

  func carryOut(_ removal: Removal) {
    switch removal {
    case .ofKey: users.remove(1)
    case .ofAll: users.removeAll()
    case .endOfScope: scope.end()
    }
  }

  @Test(arguments: Removal.allCases)
  func `a value whose removal failed is not found again, and a flush removes it`(
    removal: Removal
  ) {
    kept.set("old", for: 1)
    carryOut(removal)
    #expect(kept.contents == [1: "old"])
    let later = Recorder<String>().subscribe(to: users.get(1))
    origin[1].failed(Offline())
    isRefusing.withLock { $0 = false }

    let flush = Recorder<Void>().subscribe(to: users.flush())

    #expect(later.values.isEmpty && later.failure != nil)
    #expect(flush.isCompleted)
    #expect(kept.contents.isEmpty)
  }

  @Test(arguments: Removal.allCases)
  func `a value that is fetched after a failed removal survives the flush`(removal: Removal) {
    kept.set("old", for: 1)
    carryOut(removal)
    let later = Recorder<String>().subscribe(to: users.get(1))
    origin[1].next("new")
    origin[1].completed()
    isRefusing.withLock { $0 = false }

    let flush = Recorder<Void>().subscribe(to: users.flush())

    #expect(later.values == ["new"])
    #expect(flush.isCompleted)
    #expect(kept.contents == [1: "new"])
    #expect(users.current(1) == "new")
  }

  @Test(arguments: Removal.allCases)
  func `a failed removal counts on after a fetched value could not be saved either`(
    removal: Removal
  ) {
    kept.set("old", for: 1)
    carryOut(removal)
    kept.failChanges(of: 1, with: Refused())
    users.get(1).subscribe()
    origin[1].next("new")
    origin[1].completed()
    users.relieve(.critical)

    let later = Recorder<String>().subscribe(to: users.get(1))

    #expect(kept.contents == [1: "old"])
    #expect(later.values.isEmpty)
  }

  @Test func `after a failed removal of everything only what was saved since is found`() {
    for key in 1...2 { kept.set("old", for: key) }
    users.removeAll()
    users.set("new", for: 1)
    users.relieve(.critical)

    let found = (1...2).map { Recorder<String>().subscribe(to: users.get($0)) }

    #expect(found.map(\.values) == [["new"], []])
  }
}
