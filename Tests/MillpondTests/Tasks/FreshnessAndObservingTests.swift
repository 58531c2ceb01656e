import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Freshness and observing".
@Suite(.timeLimit(.minutes(3))) struct FreshnessAndObservingTests {
  struct API: Sendable {
    func profile() async throws -> String { "Ada" }
  }

  static func ask(_ cache: some Cache<Int, String>) -> [Signal<String>] {
    // snippet
    let young = cache.get(1, freshness: .atMost(.minutes(1)))  // asks below for an older one
    let stored = cache.get(1, freshness: .cachedOnly)  // no request; a miss completes empty
    let new = cache.get(1, freshness: .reload)  // asks the origin, and replaces what is stored
    // end
    return [young, stored, new]
  }

  typealias Articles = Remembered<
    Layered<MemoryCache<Int, String>, TestCache<Int, String>>, TestOrigin<Int, String>
  >

  static func articles(
    of origin: TestOrigin<Int, String>, _ memory: MemoryCache<Int, String>,
    _ disk: TestCache<Int, String>
  ) -> Articles {
    // snippet
    let articles = origin.remembered(
      in: memory.layered(over: disk),
      FreshnessPolicy(
        freshFor: .minutes(5), usableFor: .days(1), stale: .onNamedErrors,
        jitter: 0.1, refreshAhead: .seconds(30)))
    // end
    return articles
  }

  static func choose(_ articles: Articles) -> [Signal<String>] {
    // snippet
    let strict = articles.get(1, stale: .never)  // a fresh value, or the failure
    let patient = articles.get(1, stale: .after(.milliseconds(300)))  // else the stale one
    let both = articles.get(1, stale: .atOnce)  // the stale one, and then the new one
    // end
    return [strict, patient, both]
  }

  static func profile(_ api: API, in folder: URL) -> Multiplexer<String> {
    // snippet
    let profile = Multiplexer<String>(persistence: .disk("profile", in: folder)) {
      try await api.profile()
    }
    // end
    return profile
  }

  static func observe(
    _ articles: Articles, _ foreground: Signal<Void>, _ bag: DisposableBag,
    _ show: @escaping @Sendable (String, Bool, (any Error)?) -> Void
  ) {
    // snippet
    let states = articles.observe(1, every: .minutes(1), refreshingOn: foreground)
    states.subscribe(onNext: { state in
      show(state.value ?? "…", state.isLoading, state.error)
    }).disposed(by: bag)
    // end
  }

  private let origin = TestOrigin<Int, String>()
  private let shown = Recorder<String>()
  private let texts = PublishSubject<String>()
  private let bag = DisposableBag()

  private func articles() -> Articles {
    Self.articles(of: origin, MemoryCache(countLimit: 10), TestCache())
  }

  @Test func `gets say how old an answer may be`() {
    let cache = MemoryCache<Int, String>(countLimit: 10).layered(over: origin)
    cache.set("old", for: 1)

    let answers = Self.ask(cache).map { Recorder<String>().subscribe(to: $0) }
    origin[1].next("new")

    #expect(answers.map(\.values) == [["old"], ["old"], ["new"]])
  }

  @Test func `a stale value is used as the get says`() {
    let articles = articles()
    articles.set("old", for: 1)
    articles.markStale(1)

    let answers = Self.choose(articles).map { Recorder<String>().subscribe(to: $0) }
    origin[1].next("new")
    origin[1].completed()

    #expect(answers.map(\.values) == [["new"], ["new"], ["old", "new"]])
    #expect(origin[1].subscriptions == 1)
  }

  @Test func `an observer sees loading, the value, and a trigger's failure beside it`() {
    let (articles, foreground) = (articles(), PublishSubject<Void>())
    shown.subscribe(to: texts.signal)
    Self.observe(articles, foreground.signal, bag) { [texts] value, isLoading, error in
      texts.next(value + (isLoading ? " loading" : "") + (error == nil ? "" : " error"))
    }

    origin[1].next("new")
    origin[1].completed()
    foreground.next(())
    origin[1].failed(URLError(.notConnectedToInternet))

    #expect(shown.values.contains("… loading"))
    #expect(shown.values.contains("new"))
    #expect(shown.values.last == "new error")
    bag.dispose()
  }

  @Test func `a multiplexer persists its value`() async throws {
    let scene = GuideScene()
    let profile = Self.profile(API(), in: scene.folder)
    #expect(try await profile.get().value == "Ada")
    try await profile.flush()
    #expect(profile.current == "Ada")
  }
}
