import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// The ordinary use of books and authors, step by step.
@Suite struct EntityReadmeTests {
  struct Book: Mergeable {
    let id: Int
    var title: String?
    var publishedOn: String?
    var author: Reference<Author>?

    static let relations: [Relation<Book>] = [Relation(\.author)]

    func merged(with newer: Book) -> Book {
      Book(
        id: id, title: newer.title ?? title, publishedOn: newer.publishedOn ?? publishedOn,
        author: newer.author ?? author)
    }
  }

  struct Author: Entity {
    let id: Int
    var name: String
    var bornOn: String?
    var books: Set<Reference<Book>> = []

    static let relations: [Relation<Author>] = [Relation(\.books)]
  }

  let store = EntityStore()
  let stone = Book(id: 9_788_700_631_625, title: "The Sorcerer's Stone")

  @Test func `a value that is set can be got by its identity`() {
    store.set(stone)

    #expect(store.get(Reference<Book>(9_788_700_631_625)) == stone)
    #expect(store.get(Reference<Book>(1)) == nil)
  }

  @Test func `an observed value is up to date, until the observer lets go`() {
    let titles = Recorder<String?>().subscribe(
      to: store.signal(of: stone.reference).map { $0.value?.title })
    store.set(stone)
    store.set(Book(id: stone.id, title: "The Philosopher's Stone"))
    titles.dispose()
    store.remove(stone.reference)

    #expect(titles.values == [nil, "The Sorcerer's Stone", "The Philosopher's Stone"])
  }

  @Test func `partial models add up to a whole one`() {
    store.set(stone)
    store.set(Book(id: stone.id, publishedOn: "1998-09-01"))

    let book = store.get(stone.reference)
    #expect(book?.title == "The Sorcerer's Stone")
    #expect(book?.publishedOn == "1998-09-01")
  }

  @Test
  func `an observer of a book receives changes of its author, though the two refer to each other`()
  {
    var author = Author(id: 1, name: "JK Rowling")
    author.books = [stone.reference]
    var book = stone
    book.author = author.reference
    store.set(author)
    store.set(book)
    let changes = Recorder<EntityChange<Book>>().subscribe(to: store.signal(of: book.reference))

    author.bornOn = "1965-07-31"
    store.set(author)

    #expect(changes.values.map(\.value) == [book, book])
    #expect(changes.values.last?.isCaused(by: author.reference) == true)
    #expect(changes.values.last?.isCaused(by: book.reference) == false)
  }

  @Test func `a batch is reported once, and names all that it has changed`() {
    let author = Author(id: 1, name: "JK Rowling", books: [Reference(1), Reference(2)])
    store.set(author)
    let changes = Recorder<EntityChange<Author>>().subscribe(
      to: store.signal(of: author.reference))

    store.update { books in
      for id in 1...3 { books.set(Book(id: id, title: "Volume \(id)")) }
    }

    #expect(changes.values.count == 2)
    #expect(
      changes.values.last?.causes.compactMap { $0.reference(to: Book.self)?.id } == [1, 2])
  }

  @Test
  func `entities that are not observed are pruned, but not those that observed ones refer to`() {
    var book = stone
    book.author = Reference(1)
    store.set(book)
    store.set(Author(id: 1, name: "JK Rowling"))
    store.set(Author(id: 2, name: "Somebody Else"))
    let subscription = store.signal(of: book.reference).subscribe(onNext: { _ in })

    store.prune()
    let withObserver = store.count
    subscription.dispose()
    store.prune()

    #expect(withObserver == 2)
    #expect(store.count == 0)
  }
}
