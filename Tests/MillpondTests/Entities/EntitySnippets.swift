import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The README's snippets of entities, as a program that runs.
@Suite struct EntitySnippets {
  struct Book: Mergeable, Codable {
    let id: Int
    var title: String?
    var year: Int?
    var author: Reference<Author>?

    static let relations: [Relation<Book>] = [Relation(\.author)]

    func merged(with newer: Book) -> Book {
      Book(
        id: id, title: newer.title ?? title, year: newer.year ?? year,
        author: newer.author ?? author)
    }
  }

  struct Author: Entity, Codable {
    let id: String
    var name: String
  }

  @Test func `the example of the README does what it says`() async throws {
    let scene = DiskScene()
    let session = CacheScope()
    let store = EntityStore(scope: session)
    let archive = EntityArchive(
      of: store, in: scene.open(),
      types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
    _ = try await archive.restored.value

    let titles = Recorder<String>()
    titles.subscribe(
      to: store.signal(of: Reference<Book>(1)).map { change in
        let author = change.value?.author.flatMap { store.get($0) }
        return "\(change.value?.title ?? "–") by \(author?.name ?? "?")"
      })
    store.update { library in
      library.set(Author(id: "mary", name: "Mary Godwin"))
      library.set(Book(id: 1, title: "Frankenstein", author: Reference("mary")))
    }
    store.set(Author(id: "mary", name: "Mary Shelley"))

    let recent = store.query(Book.self, where: { $0.year ?? 0 > 1_800 }, by: { $0.id < $1.id })
    let changes = Recorder<[EntityListChange<Book>]>().subscribe(to: recent.changes)

    let api = AnyCache<Int, Book>(
      get: { .just(Book(id: $0, year: 1_818)) }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) })
    let book = try await api.through(store).get(1).value

    #expect(book.title == "Frankenstein")
    #expect(
      titles.values == [
        "– by ?", "Frankenstein by Mary Godwin", "Frankenstein by Mary Shelley",
        "Frankenstein by Mary Shelley",
      ])
    #expect(changes.values == [[], [.insert(book, at: 0)]])

    try await archive.flush().value
    try await session.end()
    #expect(store.count == 0)
  }
}
