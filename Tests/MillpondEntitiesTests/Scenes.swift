import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting

/// Something named, that may lead to others.
struct Thing: Entity {
  let id: Int
  var name = ""
  var links: [Reference<Thing>] = []
  var owner: Reference<Person>?

  static let relations: [Relation<Thing>] = [Relation(\.links), Relation(\.owner)]

  init(_ id: Int, _ name: String = "", links: [Int] = [], owner: String? = nil) {
    self.id = id
    self.name = name
    self.links = links.map { Reference($0) }
    self.owner = owner.map { Reference($0) }
  }
}

struct Person: Entity {
  let id: String
  var age = 0
}

/// Two modules might each have one of this name.
enum One {
  struct Book: Entity {
    let id: Int
    var title: String
  }
}

enum Other {
  struct Book: Entity {
    let id: Int
    var title: String
  }
}

/// An entity whose known fields grow.
struct Card: Mergeable {
  let id: Int
  var numbers: Set<Int>

  func merged(with newer: Card) -> Card {
    Card(id: id, numbers: numbers.union(newer.numbers))
  }
}

/// An identity that prints as all others do.
struct Alike: Hashable, Sendable, CustomStringConvertible {
  let number: Int
  var description: String { "alike" }
}

struct Masked: Entity {
  let id: Alike
  var name: String
}

struct Refusal: Error, Equatable {}

extension EntityStore {
  /// Returns a recorder of a thing's changes.
  func recorder(of id: Int) -> Recorder<EntityChange<Thing>> {
    Recorder().subscribe(to: signal(of: Reference<Thing>(id)))
  }
}

extension Recorder<EntityChange<Thing>> {
  /// The names it had, "–" for none.
  var names: [String] {
    values.map { $0.value?.name ?? "–" }
  }

  /// The identities of the things that have caused the changes.
  var causes: [[Int]] {
    values.map { $0.causes.compactMap { $0.reference(to: Thing.self)?.id } }
  }
}

extension [Thing] {
  /// Changes a list as a view does.
  mutating func apply(_ change: EntityListChange<Thing>) {
    switch change {
    case .insert(let thing, let place): insert(thing, at: place)
    case .remove(let place): remove(at: place)
    case .move(let thing, let from, let to):
      remove(at: from)
      insert(thing, at: to)
    case .update(let thing, let place): self[place] = thing
    case .reset(let things): self = things
    }
  }
}
