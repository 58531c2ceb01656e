import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The code of the page "A bookshop's entities", and its promises.
@Suite(.timeLimit(.minutes(3))) struct BookshopPageTests {
  // snippet
  struct Author: Entity, Codable {
    let id: String
    var name: String
  }

  struct Book: Entity, Codable {
    let id: Int
    var title: String
    var isFavorite = false
    var author: Reference<Author>

    static let relations: [Relation<Book>] = [Relation(\.author)]
  }
  // end

  // snippet
  struct CataloguePage: Sendable {
    let books: [Book]
    let authors: [Author]

    func store(in shop: EntityStore) {
      shop.update { shop in  // one commit: observers are notified once, or not at all
        for author in authors { shop.set(author) }
        for book in books { shop.set(book) }
      }
    }
  }
  // end

  // snippet
  @MainActor final class CatalogueScreen {
    let rows: SignalState<[String]>

    init(of shop: EntityStore) {
      let books = shop.query(Book.self, by: { $0.title < $1.title }, depth: 1)
      rows = SignalState(
        following: books.values.map { books in
          books.map { "\($0.title) by \(shop.get($0.author)?.name ?? "unknown")" }
        })
    }
  }
  // end

  // snippet
  struct BookEditor: Sendable {
    let shop: EntityStore
    let book: EntityHandle<Book>
    let save: @Sendable (Book) -> Signal<Book>

    func toggleFavorite() -> Signal<Void> {
      guard var changed = book.value else { return .empty }
      changed.isFavorite.toggle()
      return shop.set(changed, confirmedBy: save(changed))
    }
  }
  // end

  static func archive(_ shop: EntityStore, in folder: URL) async throws -> EntityArchive {
    // snippet
    let archive = EntityArchive(
      of: shop, in: DiskCache(directory: folder, byteLimit: .mebibytes(64)),
      types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
    let count = try await archive.restored.value
    // end
    _ = count
    return archive
  }

  private let shop = EntityStore()
  private let api = TestSource<Book>()
  private let page = CataloguePage(
    books: [
      Book(id: 2, title: "The Last Man", author: Reference("mary")),
      Book(id: 1, title: "Frankenstein", author: Reference("mary")),
    ],
    authors: [Author(id: "mary", name: "Mary Godwin")])

  private func editor() -> BookEditor {
    BookEditor(shop: shop, book: shop.handle(to: Reference(1))) { [api] _ in api.signal }
  }

  @MainActor
  @Test func `a list is in order, and notices that an author was renamed`() {
    let screen = CatalogueScreen(of: shop)
    #expect(screen.rows.value == [])

    page.store(in: shop)
    #expect(
      screen.rows.value == ["Frankenstein by Mary Godwin", "The Last Man by Mary Godwin"])
    shop.set(Author(id: "mary", name: "Mary Shelley"))

    #expect(
      screen.rows.value == ["Frankenstein by Mary Shelley", "The Last Man by Mary Shelley"])
  }

  @Test func `a page of books is one commit with one notice`() {
    let lists = Recorder<[Book]>().subscribe(to: shop.query(Book.self).values)

    page.store(in: shop)

    #expect(lists.values == [[], page.books])
  }

  @Test func `an optimistic write is seen at once, and undone if the request fails`() {
    page.store(in: shop)
    let editor = editor()
    let seen = Recorder<EntityChange<Book>>().subscribe(to: editor.book.changes)

    let outcome = Recorder<Void>().subscribe(to: editor.toggleFavorite())
    #expect(editor.book.value?.isFavorite == true)
    api.failed(URLError(.notConnectedToInternet))

    #expect(outcome.failure is URLError)
    #expect(editor.book.value?.isFavorite == false)
    #expect(seen.values.map { $0.value?.isFavorite } == [false, true, false])
  }

  @Test func `the answer of the server replaces a confirmed optimistic write`() {
    page.store(in: shop)
    let editor = editor()

    let outcome = Recorder<Void>().subscribe(to: editor.toggleFavorite())
    var answer = page.books[1]
    (answer.title, answer.isFavorite) = ("Frankenstein; or, The Modern Prometheus", true)
    api.next(answer)
    api.completed()

    #expect(outcome.isCompleted)
    #expect(editor.book.value == answer)
  }

  @Test func `the next start has the entities, without a write that was not confirmed`()
    async throws
  {
    let scene = DiskScene()
    do {
      let archive = try await Self.archive(shop, in: scene.folder)
      page.store(in: shop)
      _ = editor().toggleFavorite()
      try await archive.flush()
    }

    let next = EntityStore()
    let archive = try await Self.archive(next, in: scene.folder)

    #expect(next.get(Reference<Book>(1)) == page.books[1])
    #expect(next.count == 3)
    _ = archive
  }
}
