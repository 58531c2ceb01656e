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
/// happens when items are inserted at the origin while the list is read. If a page's signal sends
/// several values, such as a stored page and then a fresh one, each replaces the one before it.
/// The fetch ends with the object. Calls from inside an observation's `onChange`, which runs before
/// its change is made, take effect after that change.
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

  /// The failure of the last fetch; nil when another one begins.
  public private(set) var error: (any Error)?

  /// Whether there is another page, as far as is known; true before the first.
  public private(set) var hasMore = true

  /// The position of the next page; nil for the first.
  @ObservationIgnored private var next: Cursor?

  /// Whether the running fetch has sent its page.
  @ObservationIgnored private var hasPage = false
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

  /// Fetches the next page, unless a page is being fetched or the last one has been loaded.
  ///
  /// After a failure, fetches the page that failed again.
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

  private enum Step {
    case loadMore
    case reload
    case receive(Event<Page>, at: Cursor?, after: [Item], Lifetime)
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
      case .loadMore: if !isLoading, hasMore { load(at: next, after: items) }
      case .reload: load(at: nil, after: [])
      case .receive(let event, let cursor, let former, let lifetime):
        if !lifetime.isEnded { receive(event, at: cursor, after: former, lifetime) }
      }
    }
    isChanging = false
  }

  private func load(at cursor: Cursor?, after former: [Item]) {
    run.dispose()
    hasPage = false
    let lifetime = Lifetime()
    run = Disposable(lifetime).scoped()
    if error != nil { error = nil }
    if !isLoading { isLoading = true }
    // An observer of these changes may have asked for a reload, which follows.
    if lifetime.isEnded { return }
    page(cursor).receive(on: MainActor.shared).run(
      Observer(
        next: { [weak self] page in
          MainActor.assumeIsolated {
            self?.take(.receive(.next(page), at: cursor, after: former, lifetime))
          }
        },
        other: { [weak self] event in
          MainActor.assumeIsolated {
            self?.take(.receive(event.typed(), at: cursor, after: former, lifetime))
          }
        }), lifetime)
  }

  private func receive(
    _ event: Event<Page>, at cursor: Cursor?, after former: [Item], _ lifetime: Lifetime
  ) {
    if event.isTerminal { lifetime.end() }
    switch event {
    case .next(let page): return show(page, at: cursor, after: former)
    case .progress: return
    case .failed(let failure): error = failure
    // There is no such page.
    case .completed where !hasPage: hasMore = false
    case .completed: break
    }
    isLoading = false
  }

  private func show(_ page: Page, at cursor: Cursor?, after former: [Item]) {
    var ids = Set(former.map(\.id))
    items = former + page.items.filter { ids.insert($0.id).inserted }
    (next, hasPage) = (page.next, true)
    // A page that names itself as the next one would be fetched again and again.
    let hasMore = page.next != nil && page.next != cursor
    if self.hasMore != hasMore { self.hasMore = hasMore }
  }
}
