import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// What the models of a view show after the sign-out of a user.
@MainActor
@Suite struct SignedOutModelsTests {
  struct Post: Identifiable, Sendable {
    let id: Int
  }

  let session = CacheScope()
  let origin = TestOrigin<Int, String>()

  @Test func `no model shows anything of a session that has ended, nor of a get that is complete`()
  {
    let map = MultiplexerMap(over: origin, scope: session)
    let pages = MemoryCache<Int, ListPage<Post, Int>>(countLimit: 9).scoped(to: session)
    let texts = MemoryCache<Int, String>(countLimit: 9).named("texts").scoped(to: session)
    map.set("Ada's", for: 1)
    texts.set("Ada's", for: 1)
    pages.set(ListPage([Post(id: 1)], next: 1), for: 0)
    let observed = ResourceModel(showing: map.observe(1))
    let watched = ResourceModel(showing: map.states(of: 1))
    let gets = [
      SignalState(following: map.get(1)), SignalState(following: texts.get(1)),
      SignalState(following: texts.monitored(by: CacheMonitor()).get(1).map { $0 + "!" }),
    ]
    let feed = PagedModel<Post, Int> { pages.get($0 ?? 0) }
    feed.loadMore()
    #expect(gets.map(\.value) == ["Ada's", "Ada's", "Ada's!"])
    #expect([observed.value, watched.value] == ["Ada's", "Ada's"])
    #expect(feed.items.count == 1)

    let end = Recorder<Void>().subscribe(to: session.end())

    #expect(end.isCompleted)
    let left = gets.filter { $0.value != nil || $0.error == nil || $0.isLoading }
    #expect(left.isEmpty)
    #expect([observed.value, watched.value] == [nil, nil])
    #expect(feed.items.isEmpty && feed.hasMore && !feed.isLoading)
    feed.reload()
    #expect(feed.items.isEmpty && feed.error == nil)
  }

  @Test func `an end on another thread waits until the models show nothing`() async throws {
    let map = MultiplexerMap(over: origin, scope: session)
    map.set("Ada's", for: 1)
    let state = SignalState(following: map.get(1))

    try await Task.detached { [session] in try await session.end().value }.value

    #expect(state.value == nil)
  }

  @Test func `a model that shows something else by then keeps it`() {
    let map = MultiplexerMap(over: origin, scope: session)
    map.set("Ada's", for: 1)
    let state = SignalState(following: map.get(1))
    let other = MemoryCache<Int, String>(countLimit: 9)
    other.set("everybody's", for: 1)
    let row = SignalState(following: other.get(1))

    state.follow(.just("the next user's"))
    session.end()

    #expect(state.value == "the next user's")
    #expect(row.value == "everybody's")
  }

  @Test func `a scope keeps no model that is gone`() {
    let map = MultiplexerMap(over: origin, scope: session)
    map.set("Ada's", for: 1)
    var state: SignalState<String>? = SignalState(following: map.get(1))
    weak let gone = state

    state = nil

    #expect(gone == nil)
  }
}
