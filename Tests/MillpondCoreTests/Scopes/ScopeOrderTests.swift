import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The orders in which a scope, names, monitors and what remembers can be put around each other.
@Suite struct ScopeOrderTests {
  typealias Observable = any ObservableCache<Int, String>

  enum Order: CaseIterable {
    case scopedStore, namedScopedStore, erasedScopedStore, scopedSource
    case scopedLast, scopedThenNamed, namedThenScoped
    case map, mapWithScopedPersistence, mapOverScopedSource
  }

  let session = CacheScope()
  let origin = TestOrigin<Int, String>()
  let monitor = CacheMonitor()

  private var memory: MemoryCache<Int, String> { MemoryCache(countLimit: 100) }

  private func made(_ order: Order) -> Observable {
    let source = TestCache<Int, String>().layered(over: origin).scoped(to: session)
    let always = FreshnessPolicy(stale: .atOnce)
    return switch order {
    case .scopedStore: origin.remembered(in: memory.scoped(to: session), always)
    case .namedScopedStore:
      origin.remembered(in: memory.scoped(to: session).named("m").monitored(by: monitor), always)
    case .erasedScopedStore:
      origin.remembered(
        in: AnyCache(memory.layered(over: TestCache<Int, String>()).scoped(to: session)), always)
    case .scopedSource: source.remembered(in: memory, always)
    case .scopedLast: origin.remembered(in: memory, always).scoped(to: session)
    case .scopedThenNamed:
      origin.remembered(in: memory, always).scoped(to: session).named("m").monitored(by: monitor)
    case .namedThenScoped:
      origin.remembered(in: memory, always).monitored(by: monitor).named("m").scoped(to: session)
    case .map: MultiplexerMap(over: origin, scope: session)
    case .mapWithScopedPersistence:
      MultiplexerMap(
        over: origin, persistence: Persistence(TestCache<Int, String>().scoped(to: session)))
    case .mapOverScopedSource: MultiplexerMap(over: source)
    }
  }

  @Test(arguments: Order.allCases)
  func `after the end of the scope no get, observer or refresh has the former user's value`(
    order: Order
  ) throws {
    let cache = made(order)
    let stored = Recorder<String>().subscribe(to: cache.get(1))
    origin[1].next("Ada's")
    origin[1].completed()
    let states = Recorder<ResourceState<String>>().subscribe(to: cache.states(of: 1))
    let observed = Recorder<ResourceState<String>>().subscribe(to: cache.observe(1))
    let running = Recorder<String>().subscribe(to: cache.get(2))
    let refreshed = Recorder<String>().subscribe(to: cache.refresh(3))
    #expect(stored.values == ["Ada's"])
    #expect(states.values.last?.value == "Ada's" && observed.values.last?.value == "Ada's")
    let counts = [states.values.count, observed.values.count]

    let end = Recorder<Void>().subscribe(to: session.end())
    for key in 1...3 {
      origin[key].next("Ada's")
      origin[key].completed()
    }

    #expect(end.isCompleted)
    #expect(states.values.dropFirst(counts[0]).allSatisfy { $0.value == nil })
    #expect(states.values.last?.value == nil)
    #expect(observed.failure is CacheError)
    #expect(observed.values.dropFirst(counts[1]).allSatisfy { $0.value == nil })
    #expect(running.values.isEmpty && running.failure is CacheError)
    #expect(refreshed.values.isEmpty && refreshed.failure is CacheError)
    let surfaces = SurfaceCheck(cache)
    #expect(surfaces.traces(of: 1...3) == [])
  }

  @Test func `the next user's value is shown as the former one's was`() {
    let users = origin.remembered(in: memory.scoped(to: session), FreshnessPolicy())
    let states = Recorder<ResourceState<String>>().subscribe(to: users.states(of: 1))
    users.get(1).subscribe()
    session.end()

    let next = Recorder<String>().subscribe(to: users.get(1))
    origin[1].next("Bea's")
    origin[1].completed()

    #expect(next.values == ["Bea's"])
    #expect(states.values.last?.value == "Bea's")
  }
}
