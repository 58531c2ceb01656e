import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Sets, fills and gets that are under way while keys are removed by a predicate.
@Suite(.timeLimit(.minutes(1))) struct RemovalsByPredicateTests {
  typealias Texts = AnyCache<String, String>

  enum Store: CaseIterable {
    case memory, large, closures, double
  }

  private func make(_ store: Store) -> Texts {
    switch store {
    case .memory: return AnyCache(MemoryCache<String, String>(countLimit: 1_000))
    case .large: return AnyCache(MemoryCache<String, String>(countLimit: 100_000))
    case .double: return AnyCache(TestCache<String, String>())
    case .closures:
      let double = TestCache<String, String>()
      return AnyCache(
        get: { double.get($0) }, set: { double.set($0, for: $1) },
        remove: { double.remove($0) },
        removeMatching: { isRemoved in double.removeAll { isRemoved($0) } })
    }
  }

  private let gate = Watched(false)

  private func encodingSlowly(_ cache: Texts) -> Texts {
    AnyCache(
      cache.mapValues(
        .asynchronous(
          encode: { [gate] (text: String) in
            try await gate.wait(for: "the gate") { $0 }
            return text
          }, decode: { $0 })))
  }

  @Test(arguments: Store.allCases, [true, false])
  func `a set that was called before and arrives later is refused if its key matches`(
    store: Store, byAnotherWay: Bool
  ) async throws {
    let base = make(store)
    let slow = encodingSlowly(base)
    let outcomes = ["a/1", "b/1"].map { slow.set("slow", for: $0) }

    try await (byAnotherWay ? base : slow).removeAll { $0.hasPrefix("a/") }.value
    gate.change { $0 = true }
    for outcome in outcomes { try await outcome.value }

    #expect(try await base.get("a/1").valueIfAny == nil)
    #expect(try await base.get("b/1").valueIfAny == "slow")
  }

  @Test(arguments: Store.allCases)
  func `it is refused also after many other removals`(store: Store) async throws {
    let base = make(store)
    let slow = encodingSlowly(base)
    let outcomes = ["a/1", "b/1"].map { slow.set("slow", for: $0) }

    for number in 0..<200 { _ = base.removeAll { $0 == (number == 0 ? "a/1" : "other \(number)") } }
    gate.change { $0 = true }
    for outcome in outcomes { try await outcome.value }

    #expect(try await base.get("a/1").valueIfAny == nil)
    #expect(try await base.get("b/1").valueIfAny == "slow")
  }

  @Test(arguments: Store.allCases)
  func `a get that began before stores its answer only for another key`(
    store: Store
  ) async throws {
    let (base, origin) = (make(store), TestOrigin<String, String>())
    let cache = base.layered(over: origin)
    let gets = ["a/1", "b/1"].map { Recorder<String>().subscribe(to: cache.get($0)) }

    _ = base.removeAll { $0.hasPrefix("a/") }
    for key in ["a/1", "b/1"] {
      origin[key].next("old")
      origin[key].completed()
    }

    #expect(gets.allSatisfy { $0.values == ["old"] })
    #expect(try await base.get("a/1").valueIfAny == nil)
    #expect(try await base.get("b/1").valueIfAny == "old")
  }

  @Test(arguments: Store.allCases)
  func `a get that began afterwards stores its answer`(store: Store) async throws {
    let (base, origin) = (make(store), TestOrigin<String, String>())
    _ = base.removeAll { $0.hasPrefix("a/") }

    base.layered(over: origin).get("a/1").subscribe { _ in }
    origin["a/1"].next("new")
    origin["a/1"].completed()

    #expect(try await base.get("a/1").valueIfAny == "new")
  }

  @Test func `a get afterwards joins the running get of another key only`() {
    let origin = TestOrigin<String, String>()
    let cache = MemoryCache<String, String>(countLimit: 10).layered(over: origin)
      .reusingInFlight()
    for key in ["a/1", "b/1"] { cache.get(key).subscribe { _ in } }

    _ = cache.removeAll { $0.hasPrefix("a/") }
    for key in ["a/1", "b/1"] { cache.get(key).subscribe { _ in } }

    #expect(origin["a/1"].runs.count == 2)
    #expect(origin["b/1"].runs.count == 1)
  }

  @Test func `a running entry serves its subscribers, and keeps its value for another key only`() {
    let cache = MemoryCache<String, String>(countLimit: 10)
    let sources = ["a/1": TestSource<String>(), "b/1": TestSource<String>()]
    var readers: [Recorder<String>] = []
    for (key, source) in sources {
      cache[key] = source.signal
      readers += [cache[key]].compactMap { $0 }.map { Recorder<String>().subscribe(to: $0) }
    }

    _ = cache.removeAll { $0.hasPrefix("a/") }
    #expect(cache["a/1"] == nil)
    #expect(cache["b/1"] != nil)
    for source in sources.values {
      source.next("last")
      source.completed()
    }

    #expect(readers.allSatisfy { $0.values == ["last"] })
    #expect(cache.peek("a/1") == nil)
    #expect(cache.peek("b/1") == "last")
  }

  @Test func `an entry that was assigned afterwards stays`() {
    let cache = MemoryCache<String, String>(countLimit: 10)
    _ = cache.removeAll { _ in true }
    cache["a"] = TestSource<String>().signal

    #expect(cache["a"] != nil)
  }

  @Test func `a large cache is emptied of one half, in steps`() {
    let cache = MemoryCache<Int, Int>(countLimit: 100_000)
    for key in 0..<10_000 { cache.set(key, for: key) }

    _ = cache.removeAll { $0.isMultiple(of: 2) }

    #expect(cache.count == 5_000)
    #expect(cache.snapshot().allSatisfy { !$0.key.isMultiple(of: 2) })
  }

  @Test func `a set is compared again if another removal came meanwhile`() throws {
    let cache = MemoryCache<String, String>(countLimit: 10)
    let (revision, pending) = (Revision.next(), Locked<PendingWrite?>(nil))
    pending.withLock { $0 = PendingWrite(revision) }
    _ = cache.removeAll { key in
      // The set arrives while this predicate is asked, and the next one then.
      if key == "a/1" { _ = cache.removeAll { $0 == "a/1" } }
      return false
    }

    _ = cache.apply(.set("a/1", "late", revision))

    #expect(cache.peek("a/1") == nil)
    pending.withLock { $0 }?.end()
  }

  @Test func `a fill older than all remembered removals is refused`() {
    let cache = MemoryCache<String, String>(countLimit: 10)
    let token = FillToken()
    for number in 0..<8 { _ = cache.removeAll { $0 == "other \(number)" } }
    #expect(cache.apply(.fill("a", Stamped("old"), token)).now?() != nil)

    for number in 8..<300 { _ = cache.removeAll { $0 == "other \(number)" } }

    #expect(cache.apply(.fill("b", Stamped("old"), token)).now?() == nil)
    #expect(cache.apply(.fill("b", Stamped("new"), FillToken())).now?() != nil)
  }

  @Test func `old predicates are released, and all by a removal of everything`() {
    final class Captured: Sendable {}
    let cache = MemoryCache<String, String>(countLimit: 10)
    weak var released: Captured?
    weak var forgotten: Captured?
    do {
      let (first, second) = (Captured(), Captured())
      (released, forgotten) = (first, second)
      _ = cache.removeAll { _ in withExtendedLifetime(first) { false } }
      for _ in 0..<300 { _ = cache.removeAll { _ in false } }
      _ = cache.removeAll { _ in withExtendedLifetime(second) { false } }
    }
    #expect(released == nil)

    cache.removeAll()

    #expect(forgotten == nil)
  }

  @Test func `a predicate may take a lock that a caller of the cache holds`() {
    let cache = MemoryCache<String, String>(countLimit: 10)
    let (user, hasBegun) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 0))
    let isOver = DispatchSemaphore(value: 0)
    for key in ["a", "b"] { cache.set("x", for: key) }

    user.wait()
    DispatchQueue(label: "a removal").async {
      _ = cache.removeAll { key in
        hasBegun.signal()
        user.wait()
        defer { user.signal() }
        return key == "a"
      }
      isOver.signal()
    }
    hasBegun.wait()
    // A predicate under the cache's lock would keep these from returning.
    cache.set("y", for: "b")
    #expect(cache.peek("a") == "x")
    user.signal()
    isOver.wait()

    #expect(cache.peek("a") == nil)
    #expect(cache.peek("b") == "y")
  }

  @Test(arguments: [100, 100_000])
  func `sets and removals by many threads end as the last call says`(limit: Int) async throws {
    let cache = MemoryCache<String, Int>(countLimit: limit)
    let done = Watched(0)
    for thread in 0..<4 {
      DispatchQueue(label: "a thread").async {
        for round in 0..<200 {
          cache.set(round, for: "a/\(thread)")
          cache.set(round, for: "b/\(thread)")
          _ = cache.removeAll(withPrefix: "a/")
          // Another thread may have set its own meanwhile, but none has set this one.
          if cache.peek("a/\(thread)") != nil { return }
        }
        done.change { $0 += 1 }
      }
    }
    try await done.wait(for: "the threads") { $0 == 4 }

    #expect(Set(cache.snapshot().map(\.key)) == ["b/0", "b/1", "b/2", "b/3"])
  }
}
