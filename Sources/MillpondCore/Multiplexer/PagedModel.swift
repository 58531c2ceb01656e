public import MillpondSignals
public import Observation

/// One page of a list that is fetched in parts.
public struct ListPage<Item: Sendable, Cursor: Sendable>: Sendable {
  /// The items of the page, in order.
  public var items: [Item]

  /// The position of the page after this one; nil after the last.
  public var next: Cursor?

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - items: The items of the page, in order.
  ///   - next: The position of the page after this one; nil after the last.
  public init(_ items: [Item], next: Cursor?) {
    self.items = items
    self.next = next
  }
}

/// A list that is fetched page by page, for a view.
///
///     @State private var feed = PagedModel { cursor in pages.get(cursor ?? "first") }
///     …
///     List(feed.items) { post in
///       PostRow(post).onAppear { if post.id == feed.items.last?.id { feed.loadMore() } }
///     }
///     .onAppear { feed.loadMore() }
///     .refreshable { feed.reload() }
///
/// One page is fetched at a time. An item whose id is on an earlier page already is left out, as
/// happens when items are inserted at the origin while the list is read. A page that adds no item
/// would bring no row that asks for more, so the next one follows it at once; after sixteen such
/// pages in a row the model waits for ``loadMore()``. A page that names one as the next that is in
/// the list already is the last.
///
/// If a page's signal sends several values, such as a stored page and then a fresh one, each
/// replaces the one before it, and the page is being fetched until the signal ends. The fetch ends
/// with the object. Calls from inside an observation's `onChange`, which runs before its change is
/// made, take effect after that change.
///
/// When the session of a user ends (``CacheScope/end()->_``), a list of its pages is empty again, and
/// ``error`` says so.
///
/// - Note: Main actor. Pages may come from any thread; the change then takes a hop.
/// - Complexity: O(*n*) in all items for each page.
@MainActor
@Observable
public final class PagedModel<Item: Identifiable & Sendable, Cursor: Equatable & Sendable>
where Item.ID: Sendable {
  /// A page, with the position of the one after it.
  public typealias Page = ListPage<Item, Cursor>

  /// The items of all pages that have been loaded.
  public private(set) var items: [Item] = []

  /// Whether a page is being fetched.
  public private(set) var isLoading = false

  /// The failure of the last fetch, or the end of the session; nil when another fetch begins.
  public private(set) var error: (any Error)?

  /// Whether there is another page, as far as is known; true before the first.
  public private(set) var hasMore = true

  /// The positions of the pages in the list, and that of the next page; nil for the first.
  @ObservationIgnored private var position = Position()

  /// The running fetch, or the last one.
  @ObservationIgnored private var fetch = Fetch()

  /// The number of pages in a row that have added no item.
  @ObservationIgnored private var barrenCount = 0
  @ObservationIgnored private var viewer: Viewer?
  @ObservationIgnored private var viewing: ScopedDisposable?
  @ObservationIgnored private var run = Disposable().scoped()
  @ObservationIgnored private var steps = Queue<Step>()
  @ObservationIgnored private var isChanging = false
  @ObservationIgnored private let page: @Sendable (Cursor?) -> Signal<Page>

  /// Creates an empty list, which fetches nothing until ``loadMore()``.
  ///
  /// - Parameter page: Returns the page at a position; nil stands for the first page.
  public init(page: @escaping @Sendable (_ cursor: Cursor?) -> Signal<Page>) {
    self.page = page
  }

  /// Fetches the next page, unless the last one has been loaded.
  ///
  /// While a page is being fetched, does nothing before that is shown; afterwards, as while a fresh
  /// page is on its way in the place of a stored one, the next page follows when it has ended. After
  /// a failure, fetches the page that failed again, unless that was shown before it failed.
  public func loadMore() {
    take(.loadMore)
  }

  /// Fetches the first page again; it replaces all items when it arrives.
  ///
  /// After a failure the items stay, and ``loadMore()`` continues after them. A running fetch is
  /// cancelled.
  public func reload() {
    run.dispose()
    take(.reload)
  }

  private struct Position {
    var next: Cursor?
    var former: [Cursor?] = []
  }

  private struct Fetch {
    /// The list and its position before the page.
    var items: [Item] = []
    var position = Position()
    var lifetime = Lifetime()
    var hasPage = false

    /// Whether more was asked for after the page was shown.
    var isFollowed = false
  }

  private enum Step {
    case loadMore
    case reload
    case receive(Event<Page>, Lifetime)
    case clear(any Error)
  }

  /// Takes one step at a time.
  ///
  /// Each change wakes observers before it is made. A step that began inside their `onChange` would
  /// be undone by the rest of the step that it interrupts.
  private func take(_ step: Step) {
    steps.append(step)
    if isChanging { return }
    isChanging = true
    while let step = steps.popFirst() {
      switch step {
      case .loadMore where isLoading: if fetch.hasPage { fetch.isFollowed = true }
      case .loadMore: if hasMore { loadNext() }
      case .reload: load(Fetch())
      case .receive(let event, let lifetime): if !lifetime.isEnded { receive(event, lifetime) }
      case .clear(let reason): clear(reason)
      }
    }
    isChanging = false
  }

  private func loadNext() {
    load(Fetch(items: items, position: position))
  }

  private func load(_ new: Fetch) {
    run.dispose()
    fetch = new
    let lifetime = new.lifetime
    run = Disposable(lifetime).scoped()
    if error != nil { error = nil }
    if !isLoading { isLoading = true }
    // An observer of these changes may have asked for a reload, which follows.
    if lifetime.isEnded { return }
    presentViewer().subscribe {
      page(new.position.next).receive(on: MainActor.shared).run(
        Observer(
          next: { [weak self] page in
            MainActor.assumeIsolated { self?.take(.receive(.next(page), lifetime)) }
          },
          other: { [weak self] event in
            MainActor.assumeIsolated { self?.take(.receive(event.typed(), lifetime)) }
          }), lifetime)
    }
  }

  private func presentViewer() -> Viewer {
    if let viewer { return viewer }
    let new = Viewer { [weak self] error in self?.take(.clear(error)) }
    (viewer, viewing) = (new, new.handle.scoped())
    return new
  }

  private func receive(_ event: Event<Page>, _ lifetime: Lifetime) {
    if event.isTerminal { lifetime.end() }
    switch event {
    case .next(let page): return show(page)
    case .progress: return
    case .failed(let failure) where failure.endsSession: return clear(failure)
    case .failed(let failure):
      error = failure
      if fetch.isFollowed { steps.append(.loadMore) }
    case .completed: end()
    }
    isLoading = false
  }

  /// Goes on after the end of a page if nothing else would.
  private func end() {
    if !fetch.hasPage {
      // There is no such page.
      if items.count != fetch.items.count { items = fetch.items }
      return hasMore = false
    }
    barrenCount = items.count > fetch.items.count ? 0 : barrenCount + 1
    let isBarren = (1..<16).contains(barrenCount)
    if barrenCount == 16 { barrenCount = 0 }
    if fetch.isFollowed || isBarren { steps.append(.loadMore) }
  }

  private func show(_ page: Page) {
    var ids = Set(fetch.items.map(\.id))
    items = fetch.items + page.items.filter { ids.insert($0.id).inserted }
    fetch.hasPage = true
    position = Position(
      next: page.next, former: fetch.position.former + [fetch.position.next])
    // A circle of pages would be fetched again and again.
    let hasMore = page.next != nil && !position.former.contains(page.next)
    if self.hasMore != hasMore { self.hasMore = hasMore }
  }

  private func clear(_ reason: any Error) {
    run.dispose()
    (viewer, viewing) = (nil, nil)
    (position, fetch, barrenCount) = (Position(), Fetch(), 0)
    if !items.isEmpty { items = [] }
    if !hasMore { hasMore = true }
    if isLoading { isLoading = false }
    error = reason
  }
}
