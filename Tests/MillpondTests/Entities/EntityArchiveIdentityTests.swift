import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Identities are what `==` says, whatever their texts on disk.
@Suite struct EntityArchiveIdentityTests {
  let scene = DiskScene()

  /// Restores from the folder, runs `use`, saves, and closes.
  private func session<E: Entity & Codable>(
    _ type: E.Type, _ use: (EntityStore) -> Void
  ) async throws where E.ID: Encodable {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(
      of: store, in: disk, types: [ArchivedType(type, named: "note")])
    _ = try await archive.restored.value
    use(store)
    try await archive.flush().value
    try await disk.close().value
  }

  /// Checks that an entity with one of two equal identities can be replaced and removed by the
  /// other, in the same process and in the next one.
  private func check<ID: Hashable & Codable & Sendable>(_ one: ID, _ other: ID) async throws {
    typealias Found = Note<ID>
    #expect(one == other)
    try await session(Found.self) { store in
      store.set(Found(id: one, text: "first"))
      store.remove(Reference<Found>(other))
    }
    try await session(Found.self) { store in
      #expect(store.count == 0)
      store.set(Found(id: one, text: "second"))
    }
    try await session(Found.self) { store in
      store.set(Found(id: other, text: "third"))
    }
    try await session(Found.self) { store in
      #expect(store.count == 1)
      #expect(store.get(Reference<Found>(one))?.text == "third")
      store.remove(Reference<Found>(one))
    }
    try await session(Found.self) { store in #expect(store.count == 0) }
    try await session(Found.self) { $0.set(Found(id: one, text: "fourth")) }
    try await session(Found.self) { $0.remove(Reference<Found>(other)) }
    try await session(Found.self) { store in #expect(store.count == 0) }
  }

  @Test func `equal strings of different characters are one identity`() async throws {
    try await check("caf\u{e9}", "cafe\u{301}")
  }

  @Test func `zeros of both signs are one identity`() async throws {
    try await check(0.0, -0.0)
  }

  @Test func `equal sets in different orders are one identity`() async throws {
    var other = Set<Int>(minimumCapacity: 5_000)
    for number in (1...40).reversed() { other.insert(number) }
    try await check(Set(1...40), other)
  }

  @Test func `different identities with one text are two entities`() async throws {
    try await session(Note<Vague>.self) { store in
      for number in 1...2 { store.set(Note(id: Vague(number: number), text: "\(number)")) }
    }

    let disk = scene.open()
    let keys = try await disk.contents.map(\.key).collect().value
    try await disk.close().value
    #expect(keys.count == 2)
  }

  @Test func `entities whose identities a migration shifts are all kept`() async throws {
    try await session(Note<Int>.self) { store in
      for id in 1...3 { store.set(Note(id: id, text: "\(id)")) }
    }
    func open(_ use: (EntityStore) -> Void) async throws {
      let (store, disk) = (EntityStore(), scene.open())
      let shifting = ArchivedType(Note<Int>.self, named: "note", version: 1) { json, _ in
        let old = try JSONDecoder().decode(Note<Int>.self, from: json)
        return try JSONEncoder().encode(Note(id: old.id + 1, text: old.text))
      }
      let archive = EntityArchive(of: store, in: disk, types: [shifting])
      _ = try await archive.restored.value
      use(store)
      try await archive.flush().value
      try await disk.close().value
    }

    for _ in 1...2 {
      try await open { store in
        let texts = (1...4).map { store.get(Reference<Note<Int>>($0))?.text }
        #expect(texts == [nil, "1", "2", "3"])
      }
    }
  }
}

private struct Note<ID: Hashable & Codable & Sendable>: Entity, Codable {
  let id: ID
  var text: String
}

/// An identity that encodes nothing of itself.
private struct Vague: Hashable, Codable {
  var number: Int

  enum CodingKeys: CodingKey {}

  init(number: Int) {
    self.number = number
  }

  init(from decoder: any Decoder) {
    number = 0
  }
}
