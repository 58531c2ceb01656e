import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The code of the page "Coming from TanStack Query".
@MainActor
@Suite(.timeLimit(.minutes(3))) struct FromTanStackQueryTests {
  struct Todo: Entity, Codable {
    let id: Int
    var title: String
    var isDone = false
  }

  static func lists(
    _ api: some Source<String, [Todo]>, in folder: URL
  ) -> MultiplexerMap<String, [Todo]> {
    // snippet
    let lists = MultiplexerMap(
      over: api,
      freshness: FreshnessPolicy(freshFor: .minutes(5), stale: .atOnce),
      persistence: .disk("todos", in: folder))
    // end
    return lists
  }

  // snippet
  @MainActor final class TodosScreen {
    let todos: ResourceModel<[Todo]>

    init(of list: String, in lists: MultiplexerMap<String, [Todo]>, foreground: Signal<Void>) {
      todos = ResourceModel(
        showing: lists.observe(list, every: .minutes(1), refreshingOn: foreground))
    }

    var problem: String? {
      todos.value == nil ? todos.error.map { "\($0)" } : nil
    }
  }
  // end

  // snippet
  struct TodoEditor: Sendable {
    let store: EntityStore
    let save: @Sendable (Todo) -> Signal<Todo>

    func toggle(_ todo: Todo) -> Signal<Void> {
      var changed = todo
      changed.isDone.toggle()
      return store.set(changed, confirmedBy: save(changed))
    }
  }
  // end

  private let scene = GuideScene()
  private let api = TestOrigin<String, [Todo]>()
  private let foreground = PublishSubject<Void>()
  private let tea = Todo(id: 1, title: "Tea")

  private func screen(in lists: MultiplexerMap<String, [Todo]>) -> TodosScreen {
    TodosScreen(of: "home", in: lists, foreground: foreground.signal)
  }

  private func answer(_ todos: [Todo], count: Int) async throws {
    try await api["home"].subscriptions(count: count)
    api["home"].next(todos)
    api["home"].completed()
  }

  @Test func `screens share a fetch, and the foreground leads to another`() async throws {
    let lists = Self.lists(api, in: scene.folder)
    let screens = [screen(in: lists), screen(in: lists)]
    try await answer([tea], count: 1)
    await observed { screens.allSatisfy { $0.todos.items == [tea] } }

    foreground.next(())
    try await answer([tea, Todo(id: 2, title: "Cake")], count: 2)

    await observed { screens.allSatisfy { $0.todos.items.count == 2 } }
    #expect(api["home"].subscriptions == 2)
  }

  @Test func `a problem is shown only without a value`() async throws {
    let lists = Self.lists(api, in: scene.folder)
    let screen = screen(in: lists)
    try await api["home"].subscriptions(count: 1)
    api["home"].failed(URLError(.badServerResponse))
    await observed { screen.problem != nil }

    try await lists.set([tea], for: "home").value

    await observed { screen.todos.items == [tea] }
    #expect(screen.problem == nil)
  }

  @Test func `a toggle is seen at once, and undone if the request fails`() async throws {
    let (store, answers) = (EntityStore(), TestSource<Todo>())
    store.set(tea)
    let editor = TodoEditor(store: store) { _ in answers.signal }

    let outcome = Recorder<Void>().subscribe(to: editor.toggle(tea))
    #expect(store.get(tea.reference)?.isDone == true)
    answers.failed(URLError(.notConnectedToInternet))

    #expect(outcome.failure is URLError)
    #expect(store.get(tea.reference) == tea)
  }
}
