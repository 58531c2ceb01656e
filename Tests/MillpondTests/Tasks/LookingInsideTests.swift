import Foundation
import Millpond
import MillpondInspector
import MillpondTesting
import Testing

/// The code of the page "Looking inside".
@Suite(.timeLimit(.minutes(3))) struct LookingInsideTests {
  /// An origin of pages.
  struct Site: Source {
    let pages = TestOrigin<String, Data>()

    func get(_ key: String, _ lookup: Lookup) -> Signal<Data> { pages.get(key, lookup) }
  }

  static func pages(
    _ memory: MemoryCache<String, Data>, _ disk: DiskCache, _ network: Site
  ) -> some Cache<String, Data> {
    // snippet
    let pages = memory.named("memory")
      .layered(over: disk.named("disk"))
      .layered(over: network.named("network").limited(to: 6))
      .reusingInFlight()
    // end
    return pages
  }

  static func describe(_ pages: some Cache<String, Data>) -> Int? {
    // snippet
    print(pages.diagram)
    // end
    // snippet
    let stored = pages.sizes["disk"]?.count
    // end
    // snippet
    print(pages.plan(for: "index"))  // [memory: no value, disk: is asked, network: is asked]
    // end
    return stored
  }

  static func ask(_ pages: some Cache<String, Data>) async throws -> Found<Data> {
    // snippet
    let found = try await pages.lookUp("index").value
    print(found.provenance)
    print(found.provenance.origin ?? "nowhere", found.age ?? .zero)
    // end
    return found
  }

  static func watch(
    _ pages: some Cache<String, Data>, _ bag: DisposableBag,
    _ log: @escaping @Sendable (String) -> Void
  ) -> (CacheMonitor, AnyCache<String, Data>) {
    // snippet
    let monitor = CacheMonitor()
    let watched = pages.monitored(by: monitor)
    monitor.events.subscribe(onNext: { log("\($0)") }).disposed(by: bag)
    // end
    return (monitor, AnyCache(watched))
  }

  // snippet
  func report(_ monitor: CacheMonitor) -> [String] {
    monitor.statistics.sorted { $0.key < $1.key }.map { name, layer in
      "\(name): \(layer.hits) hits, \(layer.misses) misses, \(layer.failures) failures, "
        + "half within \(layer.times.quantile(0.5))"
    }
  }
  // end

  static func list(
    _ pages: some Cache<String, Data>, _ bag: DisposableBag,
    _ log: @escaping @Sendable (String) -> Void
  ) {
    // snippet
    for flight in pages.flights {
      log("\(flight.key), \(flight.callers) callers, \(flight.priority)")
    }
    pages.flights(olderThan: .seconds(30))
      .subscribe(onNext: { log("slow: \($0)") }).disposed(by: bag)
    // end
  }

  static func inspect(
    _ pages: some Cache<String, Data>, _ log: (String) -> Void
  ) throws -> Inspector {
    // snippet
    let quiet = CacheMonitor(active: .whileObserved)
    let inspector = try Inspector(pages.monitored(by: quiet), title: "pages")
    log(inspector.address)  // open it in a browser on this machine
    // end
    return inspector
  }

  private let scene = GuideScene()
  private let site = Site()
  private let bag = DisposableBag()
  private let lines = PublishSubject<String>()
  private let log = Recorder<String>()

  private func pages() -> some Cache<String, Data> {
    log.subscribe(to: lines.signal)
    return Self.pages(
      MemoryCache(countLimit: 10),
      DiskCache(directory: scene.folder, byteLimit: .mebibytes(1)), site)
  }

  private func answer() async throws {
    try await site.pages["index"].subscriptions(count: 1)
    site.pages["index"].next(Data([1]))
    site.pages["index"].completed()
  }

  @Test func `a composition shows its layers and its plan`() {
    let pages = pages()

    #expect(Self.describe(pages) == 0)
    #expect(
      pages.diagram == """
        reusing in flight · layered
        ├─ “memory” MemoryCache
        ├─ “disk” DiskCache
        └─ limited to 6 · “network” Site
        """)
    let plan = pages.plan(for: "index").map(\.description)
    #expect(plan.count == 3)
    #expect(plan.first == "memory: no value")
    #expect(plan.last == "network: is asked")
  }

  @Test func `a get has its provenance, and a monitor counts it`() async throws {
    let (monitor, pages) = Self.watch(pages(), bag) { [lines] in lines.next($0) }
    let found = Task { try await Self.ask(pages) }
    try await answer()

    #expect(try await found.value.provenance.origin == "network")
    #expect(log.values.last?.hasPrefix("network: hit") == true)
    #expect(report(monitor).contains { $0.hasPrefix("memory: 0 hits, 1 misses") })
    _ = try await pages.get("index").value
    #expect(monitor.statistics["memory"]?.hits == 1)
  }

  @Test func `a page is served on this machine only`() throws {
    let inspector = try Self.inspect(pages()) { #expect($0.hasPrefix("http://127.0.0.1:")) }
    inspector.stop()
  }

  @Test func `running gets are listed`() async throws {
    let pages = pages()
    let callers = (0..<2).map { _ in Recorder<Data>().subscribe(to: pages.get("index")) }

    Self.list(pages, bag) { [lines] in lines.next($0) }

    #expect(log.values == ["index, 2 callers, normal"])
    bag.dispose()
    for caller in callers { caller.dispose() }
  }
}
