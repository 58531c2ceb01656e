import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The code of the page "Entities".
@Suite(.timeLimit(.minutes(3))) struct EntitiesTests {
  // snippet
  struct Author: Entity, Codable {
    let id: String
    var name: String
  }

  struct Book: Mergeable, Codable {
    let id: Int
    var title: String
    var summary: String?
    var author: Reference<Author>

    static let relations: [Relation<Book>] = [Relation(\.author)]

    func merged(with newer: Book) -> Book {
      Book(id: id, title: newer.title, summary: newer.summary ?? summary, author: newer.author)
    }
  }
  // end

  struct Missing: Error {}

  static func write(_ books: [Book], to store: EntityStore) throws -> Author? {
    // snippet
    store.set(Author(id: "mary", name: "Mary Godwin"))
    let author = store.get(Reference<Author>("mary"))

    try store.update { shop in  // one commit; an error undoes it
      for book in books { shop.set(book) }
      guard shop.get(Reference<Author>("mary")) != nil else { throw Missing() }
    }
    store.remove(Reference<Book>(2))
    // end
    return author
  }

  static func observe(
    _ store: EntityStore, _ bag: DisposableBag, _ show: @escaping @Sendable (String, Int) -> Void,
    _ list: @escaping @Sendable ([Int]) -> Void
  ) {
    // snippet
    store.signal(of: Reference<Book>(1)).subscribe(onNext: { change in
      show(change.value?.title ?? "gone", change.causes.count)
    }).disposed(by: bag)

    let byTitle = store.query(
      Book.self, where: { $0.summary != nil }, by: { $0.title < $1.title }, depth: 1)
    byTitle.values.subscribe(onNext: { list($0.map(\.id)) }).disposed(by: bag)
    // end
  }

  static func fetch(_ api: some Source<Int, Book>, into store: EntityStore) async throws -> Book {
    // snippet
    let shop = api.through(store)
    let book = try await shop.get(1).value  // merged into the store
    // end
    return book
  }

  static func rename(
    _ renamed: Book, in store: EntityStore, _ save: (Book) -> Signal<Book>, _ bag: DisposableBag,
    _ complain: @escaping @Sendable (any Error) -> Void
  ) {
    // snippet
    store.set(renamed, confirmedBy: save(renamed))
      .subscribe(onFailed: { complain($0) }).disposed(by: bag)
    // end
  }

  static func archive(_ store: EntityStore, in disk: DiskCache) async throws -> (EntityArchive, Int)
  {
    // snippet
    let archive = EntityArchive(
      of: store, in: disk,
      types: [ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author")])
    let count = try await archive.restored.value
    // end
    return (archive, count)
  }

  private let store = EntityStore()
  private let bag = DisposableBag()
  private let titles = Watched<[String]>([])
  private let lists = Watched<[[Int]]>([])
  private let books = [
    Book(id: 1, title: "Frankenstein", summary: "A student.", author: Reference("mary")),
    Book(id: 2, title: "Lodore", author: Reference("mary")),
  ]

  @Test func `observers see commits, changes of the author, and removals`() throws {
    Self.observe(
      store, bag, { [titles] title, _ in titles.change { $0.append(title) } },
      { [lists] list in lists.change { $0.append(list) } })

    #expect(try Self.write(books, to: store)?.name == "Mary Godwin")
    store.set(Author(id: "mary", name: "Mary Shelley"))

    #expect(titles.state == ["gone", "Frankenstein", "Frankenstein"])
    #expect(lists.state == [[], [1], [1]])
    #expect(store.get(Reference<Book>(2)) == nil)
    bag.dispose()
  }

  @Test func `an answer is merged, and a failed write is undone`() async throws {
    _ = try Self.write(books, to: store)
    let api = FunctionSource<Int, Book>.sync { id in
      Book(id: id, title: "Frankenstein; or", author: Reference("mary"))
    }
    let book = try await Self.fetch(api, into: store)
    #expect(book.summary == "A student.")

    let (answer, errors) = (TestSource<Book>(), Watched(0))
    var renamed = book
    renamed.title = "F."
    Self.rename(renamed, in: store, { _ in answer.signal }, bag) { _ in errors.change { $0 += 1 } }
    #expect(store.get(Reference<Book>(1))?.title == "F.")
    answer.failed(Missing())

    #expect(errors.state == 1)
    #expect(store.get(Reference<Book>(1)) == book)
  }

  @Test func `an archive restores the entities`() async throws {
    let scene = GuideScene()
    let disk = DiskCache(directory: scene.folder, byteLimit: .mebibytes(8))
    let (archive, count) = try await Self.archive(store, in: disk)
    #expect(count == 0)
    _ = try Self.write(books, to: store)
    try await archive.flush()

    let next = EntityStore()
    #expect(try await Self.archive(next, in: disk).1 == 2)
    #expect(next.get(Reference<Book>(1)) == books[0])
  }
}
