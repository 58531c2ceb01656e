import MillpondCore
import MillpondSignals
import MillpondTesting
import Observation
import Testing

@MainActor
@Suite struct ViewModelTests {
  struct Post: Identifiable, Equatable, Sendable {
    let id: Int
  }

  let clock = ManualClock()
  let origin = TestOrigin<String, [Int]>()

  // MARK: One resource

  @Test func `a model shows the value in memory at once, and then the fetched one`() {
    let lists = MultiplexerMap(over: origin, freshness: .ten(), clock: clock)
    lists.set([1], for: "a")
    clock.advance(by: .seconds(20))

    let model = ResourceModel(showing: lists.observe("a"))
    #expect(model.items == [1])
    #expect(model.isLoading)
    origin["a"].next([1, 2])
    origin["a"].completed()

    #expect(model.items == [1, 2])
    #expect(!model.isLoading)
    #expect(model.state?.origin == .fetched)
  }

  @Test func `a failure stands beside the last good value`() {
    let lists = MultiplexerMap(over: origin, clock: clock)
    lists.set([1], for: "a")
    let model = ResourceModel(showing: lists.observe("a"))

    lists.refresh("a")
    origin["a"].failed(Refused())

    #expect(model.value == [1])
    #expect(model.error is Refused)
    #expect(!model.isLoading)
  }

  @Test func `a change wakes the observers of a model`() {
    let lists = MultiplexerMap(over: origin, clock: clock)
    let model = ResourceModel(showing: lists.states(of: "a"))
    let changes = Locked(0)
    withObservationTracking {
      #expect(model.items.isEmpty)
    } onChange: {
      changes.withLock { $0 += 1 }
    }

    lists.set([5], for: "a")

    #expect(changes.withLock { $0 } == 1)
    #expect(model.items == [5])
  }

  @Test func `a model that is released leaves, which cancels the fetch`() {
    let lists = MultiplexerMap(over: origin, clock: clock)
    var model: ResourceModel<[Int]>? = ResourceModel(showing: lists.observe("a"))
    #expect(origin.activeRuns == 1)
    #expect(model?.isLoading == true)

    model = nil

    #expect(origin.activeRuns == 0)
  }

  @Test func `a model shows another resource, and nothing more of the first`() {
    let lists = MultiplexerMap(over: origin, clock: clock)
    let model = ResourceModel<[Int]>()
    #expect(!model.isLoading)
    #expect(model.value == nil)
    model.show(lists.observe("a"))

    model.show(lists.observe("b"))
    lists.set([1], for: "a")
    lists.set([2], for: "b")
    #expect(model.value == [2])
    model.stop()
    lists.set([3], for: "b")

    #expect(model.value == [2])
  }

  // MARK: Pages

  private let pages = TestOrigin<Int, ListPage<Post, Int>>()

  private func feed() -> PagedModel<Post, Int> {
    PagedModel { [pages] cursor in pages.get(cursor ?? 0) }
  }

  private func answer(_ page: Int, _ posts: ClosedRange<Int>, next: Int?) {
    pages[page].next(ListPage(posts.map { Post(id: $0) }, next: next))
    pages[page].completed()
  }

  @Test func `a list grows page by page, to the last one`() {
    let feed = feed()
    #expect(pages.activeRuns == 0)

    feed.loadMore()
    feed.loadMore()
    #expect(feed.isLoading)
    #expect(pages[0].subscriptions == 1)
    answer(0, 1...3, next: 1)
    #expect(feed.items.map(\.id) == [1, 2, 3])
    #expect(feed.hasMore)
    feed.loadMore()
    answer(1, 4...5, next: nil)
    feed.loadMore()

    #expect(feed.items.map(\.id) == [1, 2, 3, 4, 5])
    #expect(!feed.hasMore)
    #expect(!feed.isLoading)
    #expect(pages.activeRuns == 0)
  }

  @Test func `an item that an earlier page has is left out`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...3, next: 1)
    feed.loadMore()

    answer(1, 3...5, next: nil)

    #expect(feed.items.map(\.id) == [1, 2, 3, 4, 5])
  }

  @Test func `a fresh page replaces the stored one that came before it`() {
    let feed = feed()
    feed.loadMore()
    pages[0].next(ListPage([Post(id: 1), Post(id: 2)], next: 1))
    #expect(feed.items.map(\.id) == [1, 2])
    #expect(feed.isLoading)

    answer(0, 7...8, next: 1)

    #expect(feed.items.map(\.id) == [7, 8])
    #expect(!feed.isLoading)
  }

  @Test func `a failed page keeps the items, and is fetched again`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...2, next: 1)
    feed.loadMore()
    pages[1].failed(Refused())
    #expect(feed.error is Refused)
    #expect(feed.items.count == 2)
    #expect(!feed.isLoading)

    feed.loadMore()
    #expect(feed.error == nil)
    answer(1, 3...3, next: nil)

    #expect(feed.items.map(\.id) == [1, 2, 3])
  }

  @Test func `a reload replaces all items when it arrives, and cancels what runs`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...2, next: 1)
    feed.loadMore()

    feed.reload()
    #expect(pages[1].activeRuns == 0)
    #expect(feed.items.count == 2)
    answer(0, 8...9, next: 1)

    #expect(feed.items.map(\.id) == [8, 9])
    #expect(feed.hasMore)
  }

  @Test func `a failed reload keeps the items and the position`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...2, next: 1)

    feed.reload()
    pages[0].failed(Refused())
    #expect(feed.items.count == 2)
    feed.loadMore()
    answer(1, 3...3, next: nil)

    #expect(feed.items.map(\.id) == [1, 2, 3])
  }

  @Test func `a page that names itself as the next one is the last`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...1, next: 1)
    feed.loadMore()

    answer(1, 2...2, next: 1)

    #expect(!feed.hasMore)
  }

  @Test(arguments: [[], [1, 2]])
  func `a page that adds nothing is followed by the next one`(ids: [Int]) {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...2, next: 1)
    feed.loadMore()

    pages[1].next(ListPage(ids.map { Post(id: $0) }, next: 2))
    pages[1].completed()
    answer(2, 3...3, next: nil)

    #expect(feed.items.map(\.id) == [1, 2, 3])
    #expect(!feed.hasMore && !feed.isLoading)
  }

  @Test func `a first page that is empty is followed, and one that does not exist ends the list`() {
    let feed = feed()
    feed.loadMore()
    pages[0].next(ListPage([], next: 1))
    pages[0].completed()
    #expect(feed.hasMore && feed.isLoading)

    pages[1].completed()

    #expect(feed.items.isEmpty)
    #expect(!feed.hasMore && !feed.isLoading)
    #expect(feed.error == nil)
  }

  @Test func `pages without an item that never end are fetched sixteen at a time`() {
    let calls = Locked(0)
    let feed = PagedModel<Post, Int> { cursor in
      calls.withLock { $0 += 1 }
      return .just(ListPage([], next: (cursor ?? 0) + 1))
    }

    feed.loadMore()
    let first = calls.withLock { $0 }
    feed.loadMore()

    #expect(first == 16)
    #expect(calls.withLock { $0 } == 32)
    #expect(feed.hasMore && !feed.isLoading)
  }

  @Test func `a circle of pages ends the list`() {
    let feed = PagedModel<Post, String> { cursor in
      .just(ListPage([Post(id: cursor == "B" ? 2 : 1)], next: cursor == "B" ? "A" : "B"))
    }

    for _ in 0..<5 { feed.loadMore() }

    #expect(feed.items.map(\.id) == [1, 2])
    #expect(!feed.hasMore)
  }

  @Test(arguments: [true, false])
  func `more that is asked for while a shown page is fetched anew follows its end`(fails: Bool) {
    let feed = feed()
    feed.loadMore()
    feed.loadMore()
    pages[0].next(ListPage([Post(id: 1)], next: 1))

    // The row of the stored page's last item appears, and never again.
    feed.loadMore()
    #expect(pages[1].subscriptions == 0)
    if fails { pages[0].failed(Refused()) } else { answer(0, 1...1, next: 1) }
    answer(1, 2...2, next: nil)

    #expect(feed.items.map(\.id) == [1, 2])
  }

  @Test func `a list that has shrunk at the origin is shorter after a reload, also if it is gone`()
  {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...3, next: 1)
    feed.reload()
    answer(0, 1...2, next: nil)
    #expect(feed.items.map(\.id) == [1, 2])
    #expect(!feed.hasMore)

    feed.reload()
    pages[0].completed()

    #expect(feed.items.isEmpty)
  }

  @Test func `a reload by an observer of the items is not undone by the change that woke it`() {
    let feed = PagedModel<Post, Int> { cursor in
      .just(ListPage([Post(id: cursor ?? 0)], next: (cursor ?? 0) + 1))
    }
    feed.loadMore()
    observe(feed.items) { feed.reload() }

    feed.loadMore()
    #expect(feed.items.map(\.id) == [0])
    feed.loadMore()

    #expect(feed.items.map(\.id) == [0, 1])
    #expect(!feed.isLoading)
  }

  @Test func `an observer that asks for more when the loading begins fetches no page again`() {
    let calls = Locked(0)
    let feed = PagedModel<Post, Int> { [pages] cursor in
      calls.withLock { $0 += 1 }
      return pages.get(cursor ?? 0)
    }
    observe(feed.isLoading) { feed.loadMore() }

    feed.loadMore()

    #expect(calls.withLock { $0 } == 1)
    #expect(pages[0].activeRuns == 1)
    #expect(feed.isLoading)
  }

  @Test func `a reload by an observer of a new fetch takes the place of that fetch`() {
    let feed = feed()
    feed.loadMore()
    answer(0, 1...1, next: 1)
    observe(feed.isLoading) { feed.reload() }

    feed.loadMore()
    answer(0, 2...2, next: 1)

    #expect(pages[1].subscriptions == 0)
    #expect(feed.items.map(\.id) == [2])
    #expect(!feed.isLoading)
  }

  @Test func `a list that is released cancels its fetch`() {
    var feed: PagedModel<Post, Int>? = feed()
    feed?.loadMore()
    #expect(pages.activeRuns == 1)

    feed = nil

    #expect(pages.activeRuns == 0)
  }

  private func observe<Property>(
    _ property: @autoclosure () -> Property, _ onChange: @escaping @MainActor @Sendable () -> Void
  ) {
    withObservationTracking {
      _ = property()
    } onChange: {
      MainActor.assumeIsolated { onChange() }
    }
  }
}
