import Millpond
@testable import MillpondEntityArchive

enum Library {
  static let types = [
    ArchivedType(Book.self, named: "book"), ArchivedType(Author.self, named: "author"),
  ]
}

struct Book: Entity, Codable {
  let id: Int
  var title: String
  var author: Reference<Author>?

  static let relations: [Relation<Book>] = [Relation(\.author)]
}

struct Author: Entity, Codable {
  let id: String
  var name: String
}

struct Unkept: Entity {
  let id: Int
}
