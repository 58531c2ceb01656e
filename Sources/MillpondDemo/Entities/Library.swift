import Millpond
import MillpondEntities

/// A shop, its books and their authors: each is stored once, and refers to the others by identity.
struct Shop: Entity {
  let id: Int
  var shelf: [Reference<Book>]

  static let relations: [Relation<Shop>] = [Relation(\.shelf)]
}

/// A book, whose fields are set by several writers.
struct Book: Mergeable {
  let id: Int
  var title: String?
  var year: Int?
  var sold: Int?
  var author: Reference<Writer>?

  static let relations: [Relation<Book>] = [Relation(\.author)]

  func merged(with newer: Book) -> Book {
    Book(
      id: id, title: newer.title ?? title, year: newer.year ?? year, sold: newer.sold ?? sold,
      author: newer.author ?? author)
  }
}

struct Writer: Entity {
  let id: String
  var name: String
}

/// A source of the years of the books.
struct Catalogue: Source {
  func get(_ key: Int, _ lookup: Lookup) -> Signal<Book> {
    .just(Book(id: key, year: [1: 1818, 2: 1826, 3: 1847, 4: 1849, 5: 1847][key]))
  }
}

enum Library {
  static let shop = Reference<Shop>(1)

  static let writers = [
    Writer(id: "mary", name: "Mary Godwin"), Writer(id: "charlotte", name: "Charlotte Brontë"),
    Writer(id: "emily", name: "Emily Brontë"),
  ]

  static let books = [
    Book(id: 1, title: "Frankenstein", sold: 0, author: Reference("mary")),
    Book(id: 2, title: "The Last Man", sold: 0, author: Reference("mary")),
    Book(id: 3, title: "Jane Eyre", sold: 0, author: Reference("charlotte")),
    Book(id: 4, title: "Shirley", sold: 0, author: Reference("charlotte")),
    Book(id: 5, title: "Wuthering Heights", sold: 0, author: Reference("emily")),
  ]
}
