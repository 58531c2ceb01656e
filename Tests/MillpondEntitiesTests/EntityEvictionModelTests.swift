import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondEntities

/// Stores at their limit under random writes, compared with what may be evicted.
@Suite struct EntityEvictionModelTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what is in use stays, and the limit holds`(seed: UInt64) {
    var run = EvictionRun(seed: seed, limit: [100, 1_100, 2_400][Int(seed % 3)])
    for _ in 0..<4_000 { run.step() }
    run.end()

    #expect(run.evictedCount > 300)
  }

  @Test func `what other threads use at random stays while a writer exceeds the limit`() async {
    let store = EntityStore(countLimit: 2_000)
    for id in 0..<2_000 { store.set(Thing(id, links: [id / 2])) }
    let isOver = Locked(false)
    let losses = Task.detached {
      var random = SeededGenerator(seed: 1)
      var losses = 0
      while !isOver.withLock({ $0 }) {
        let last = store.get(Reference<Thing>(0))?.links.first?.id ?? 0
        let id = last - Int.random(in: 0..<1_000, using: &random)
        let reference = Reference<Thing>(id)
        let handle = store.retain(reference)
        let wasStored = store.get(reference) != nil
        for _ in 0..<20 where wasStored && store.get(reference) == nil { losses += 1 }
        handle.dispose()
      }
      return losses
    }

    let pin = store.retain(Reference<Thing>(0))
    var mostStored = 0
    for id in 2_000..<30_000 {
      store.set(Thing(id, links: [id - 1]))
      if id % 16 == 0 { store.set(Thing(0, links: [id])) }
      mostStored = max(mostStored, store.count)
      // The last of the chain is in use with all before it, so the chain is cut now and then.
      if id % 500 == 0 { store.set(Thing(id, links: [])) }
    }
    isOver.withLock { $0 = true }

    #expect(await losses.value == 0)
    #expect(mostStored <= 2_000)
    pin.dispose()
  }
}

/// A store, and a record of what was written.
private struct EvictionRun {
  private let store: EntityStore
  private let limit: Int
  private var random: SeededGenerator
  private var links: [Int: [Int]] = [:]
  private var handles: [(id: Int, handle: Disposable)] = []
  private var query: Disposable?
  private var queryLeft = 0
  private var last = 0
  private(set) var evictedCount = 0

  init(seed: UInt64, limit: Int) {
    self.limit = limit
    random = SeededGenerator(seed: seed)
    store = EntityStore(countLimit: limit)
  }

  mutating func step() {
    let wasOver = store.count > limit
    switch Int.random(in: 0..<1_000, using: &random) {
    case 0: removeMost()
    case 1:
      store.prune()
      compare()
    case 2: beginQuery()
    case 3..<120: use()
    case 120..<140:
      let id = someID
      store.remove(Reference<Thing>(id))
      links[id] = nil
    case 140..<260: _ = store.get(Reference<Thing>(someID))
    case 260..<420: set(someID)
    default:
      last += 1
      set(last)
    }
    if store.count != links.count { compare() }
    if !wasOver, store.count > limit { #expect(store.count <= inUse.count) }
    queryLeft -= 1
    if queryLeft == 0 { endQuery() }
  }

  mutating func end() {
    endQuery()
    for (_, handle) in handles { handle.dispose() }
    handles = []
    last += 1
    set(last)
    #expect(store.count <= limit)
  }

  private var someID: Int {
    mutating get { max(1, last - Int.random(in: 0..<2 * limit, using: &random)) }
  }

  private mutating func set(_ id: Int) {
    let targets = (0..<Int.random(in: 0...2, using: &random)).map { _ in someID }
    store.set(Thing(id, "\(Int.random(in: 0..<9, using: &random))", links: targets))
    links[id] = targets
  }

  private mutating func use() {
    if handles.count < 12 {
      let reference = Reference<Thing>(someID)
      let handle =
        Bool.random(using: &random)
        ? store.retain(reference) : store.signal(of: reference).subscribe(onNext: { _ in })
      handles.append((reference.id, handle))
    } else {
      handles.remove(at: Int.random(in: handles.indices, using: &random)).handle.dispose()
    }
  }

  private mutating func beginQuery() {
    if query != nil { return }
    query = store.query(Thing.self).values.subscribe(onNext: { _ in })
    queryLeft = Int.random(in: 1...100, using: &random)
  }

  private mutating func endQuery() {
    query?.dispose()
    query = nil
  }

  private mutating func removeMost() {
    let gone = links.keys.sorted().filter { !$0.isMultiple(of: 8) }
    store.update { things in
      for id in gone { things.remove(Reference<Thing>(id)) }
    }
    for id in gone { links[id] = nil }
  }

  /// The stored entities that are in use.
  private var inUse: Set<Int> {
    var found: Set<Int> = []
    var waiting = handles.map(\.id) + (query == nil ? [] : Array(links.keys))
    while let id = waiting.popLast() {
      if links[id] != nil, found.insert(id).inserted { waiting += links[id] ?? [] }
    }
    return found
  }

  private mutating func compare() {
    let stored = store.core.tables.withLock { tables in
      Set(tables.table(Thing.self).ids(until: .last))
    }
    let evicted = Set(links.keys).subtracting(stored)
    #expect(stored.isSubset(of: links.keys))
    #expect(evicted.isDisjoint(with: inUse))
    evictedCount += evicted.count
    for id in evicted { links[id] = nil }
  }
}
