import Millpond
import MillpondTesting
import Testing

/// The code of the page "Choosing a cache".
@Suite struct ChoosingACacheTests {
  static func articles(
    _ api: some Source<Int, String>, _ layers: some Cache<Int, String>, _ session: CacheScope,
    _ monitor: CacheMonitor
  ) -> some ObservableCache<Int, String> {
    // snippet
    let articles =
      api
      .limited(to: 6).retrying(3)  // the work
      .remembered(in: layers, FreshnessPolicy(freshFor: .minutes(10)))  // the freshness
      .scoped(to: session).named("articles").monitored(by: monitor)  // who sees it
    // end
    return articles
  }

  @Test func `what is wrapped in this order is observed, refreshed and erased`() async {
    let (origin, memory) = (TestOrigin<Int, String>(), MemoryCache<Int, String>(countLimit: 9))
    let (session, monitor) = (CacheScope(), CacheMonitor())
    let articles = Self.articles(origin, memory, session, monitor)

    let shown = Recorder<ResourceState<String>>().subscribe(to: articles.observe(1))
    origin[1].next("one")
    origin[1].completed()
    #expect(shown.values.last?.value == "one")
    articles.markAllStale()
    let refreshed = Recorder<String>().subscribe(to: articles.refresh(1))
    origin[1].next("two")
    origin[1].completed()
    #expect(refreshed.values == ["two"])
    #expect(shown.values.last?.value == "two")

    await #expect(throws: Never.self) { try await session.end() }
    #expect(shown.failure != nil)
    #expect(memory.count == 0)
  }
}
