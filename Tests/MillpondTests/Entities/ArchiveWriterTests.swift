import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ArchiveWriterTests {
  let scene = DiskScene()
  let book = Reference<Book>(1)
  let key = "e/4/book/[1]"

  private func entry(_ book: Book?, id: Int = 1) -> ArchiveEntry {
    let identity = ArchivedIdentity(
      keyPrefix: "e/4/book/", reference: AnyReference(Reference<Book>(id)))
    return ArchiveEntry(identity: identity, text: { "e/4/book/[\(id)]" }) {
      try book.map { ArchiveForm.wrap(try JSONEncoder.sorted.encode($0), 0) }
    }
  }

  private func keep(_ books: Book...) async throws {
    let writer = ArchiveWriter(scene.open())
    _ = await writer.restore(Library.types, EntityStore(), FillToken())
    await writer.save(books.map { entry($0, id: $0.id) })
    try await writer.flush(.written).value
    try await writer.close()
  }

  /// Returns the titles at a start.
  private func titles(_ types: [ArchivedType] = Library.types) async throws -> [Int: String] {
    let (store, writer) = (EntityStore(), ArchiveWriter(scene.open()))
    _ = try await writer.restore(types, store, FillToken()).value
    try await writer.close()
    return (0..<10).reduce(into: [:]) { $0[$1] = store.get(Reference<Book>($1))?.title }
  }

  @Test(arguments: [Book(id: 1, title: "new"), nil])
  func `an entity that changes after the start and back is saved as it is then`(between: Book?)
    async throws
  {
    try await keep(Book(id: 1, title: "old"))
    let writer = ArchiveWriter(scene.open())
    _ = try await writer.restore(Library.types, EntityStore(), FillToken()).value

    await writer.save([entry(between), entry(Book(id: 1, title: "old"))])
    try await writer.close()

    #expect(try await titles() == [1: "old"])
  }

  @Test func `an answer that has arrived meanwhile wins over the disk`() async throws {
    try await keep(Book(id: 1, title: "old"), Book(id: 2, title: "kept"))
    let (store, writer) = (EntityStore(), ArchiveWriter(scene.open()))
    let token = FillToken()
    let source = AnyCache<Int, Book>(
      get: { .just(Book(id: $0, title: "fetched")) }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) })
    _ = try await source.through(store).get(1).value

    _ = try await writer.restore(Library.types, store, token).value
    try await writer.close()

    #expect(store.get(book)?.title == "fetched")
    #expect(store.get(Reference<Book>(2))?.title == "kept")
  }

  @Test func `an answer that is under way while the archive restores wins over the disk`()
    async throws
  {
    try await keep(Book(id: 1, title: "old"))
    let (store, writer) = (EntityStore(), ArchiveWriter(scene.open()))
    let origin = TestOrigin<Int, Book>()
    let titles = Recorder<Book>().subscribe(to: origin.through(store).get(1))

    _ = try await writer.restore(Library.types, store, FillToken()).value
    let restored = store.get(book)?.title
    origin[1].next(Book(id: 1, title: "fetched"))
    try await writer.close()

    #expect(restored == "old")
    #expect(store.get(book)?.title == "fetched")
    #expect(titles.values.last?.title == "fetched")
  }

  @Test func `an entity removed before it was restored is removed from the disk`() async throws {
    try await keep(Book(id: 1, title: "old"), Book(id: 2, title: "kept"))
    let (store, writer) = (EntityStore(), ArchiveWriter(scene.open()))
    let token = FillToken()
    store.remove(book)

    _ = try await writer.restore(Library.types, store, token).value
    try await writer.close()

    #expect(try await titles() == [2: "kept"])
  }

  @Test func `an identity of several parts is the same key in every process`() throws {
    let store = EntityStore()
    let keys = Recorder<String>()
    let saved = PublishSubject<String>()
    keys.subscribe(to: saved.signal)
    let following = ArchivedType(Shelf.self, named: "shelf").follow(store) { entries in
      for entry in entries { saved.next((try? entry.text()) ?? "none") }
    }

    store.set(Shelf(id: Shelf.Place(room: 1, wall: 2, row: 3, column: 4, depth: 5, side: 6)))

    let place = #"{"column":4,"depth":5,"room":1,"row":3,"side":6,"wall":2}"#
    #expect(keys.values == ["e/5/shelf/[\(place)]"])
    following.dispose()
  }

  @Test func `an entity that can't be decoded is removed from the disk`() async throws {
    try await keep(Book(id: 1, title: "old"), Book(id: 2, title: "other"))
    let failing = ArchivedType(Book.self, named: "book", version: 1) { _, _ in throw Refused() }

    #expect(try await titles([failing]) == [:])

    #expect(try await titles() == [:])
  }

  @Test(arguments: [true, false])
  func `an entity that a migration renames moves, and does not hide the entity in its new place`(
    isTaken: Bool
  ) async throws {
    try await keep(Book(id: 1, title: "moved"))
    if isTaken {
      try await scene.fill {
        $0.set(ArchiveForm.wrap(Data(#"{"id":2,"title":"there"}"#.utf8), 1), for: "e/4/book/[2]")
      }
    }
    let renaming = ArchivedType(Book.self, named: "book", version: 1) { json, _ in
      Data(String(decoding: json, as: UTF8.self).replacing(#""id":1"#, with: #""id":2"#).utf8)
    }

    #expect(try await titles([renaming]) == [2: isTaken ? "there" : "moved"])

    let disk = scene.open()
    #expect(try await disk.get(key).valueIfAny == nil)
    try await disk.close().value
  }

  @Test func `a flush starts at once, with or without a subscriber to its outcome`() async throws {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(
      of: store, in: disk, types: [ArchivedType(Moody.self, named: "book")])
    _ = try await archive.restored.value
    store.set(Moody(id: 1, title: "unspeakable"))

    archive.flush().subscribe()

    // Only the first flush reports what can't be encoded.
    try await archive.flush().value
    try await disk.close().value
  }

  @Test func `an entity that can't be encoded is left out, with its former version`() async throws {
    try await keep(Book(id: 1, title: "old"), Book(id: 2, title: "other"))
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(
      of: store, in: disk, types: [ArchivedType(Moody.self, named: "book")])
    _ = try await archive.restored.value
    store.set(Moody(id: 1, title: "unspeakable"))

    await #expect(throws: Refused.self) { try await archive.flush().value }
    try await archive.flush().value
    try await disk.close().value

    #expect(try await titles() == [2: "other"])
  }

  @Test func `a group that could not be saved is saved with the next one`() async throws {
    try await keep(Book(id: 1, title: "old"))
    let calls = FaultyCalls()
    let disk = scene.open(.mebibytes(64), calls)
    let writer = ArchiveWriter(disk)
    _ = try await writer.restore(Library.types, EntityStore(), FillToken()).value
    calls.inject(.error(.ENOSPC), of: [.write], count: 1_000)
    await writer.save((1...2).map { entry(Book(id: $0, title: "group"), id: $0) })
    await #expect(throws: (any Error).self) { try await writer.flush(.written).value }
    calls.recover()

    await writer.save([entry(Book(id: 1, title: "newer"))])
    try await writer.flush(.written).value
    try await writer.close()

    #expect(try await titles() == [1: "newer", 2: "group"])
  }

  @Test func `groups that fail leave nothing behind`() async throws {
    let calls = FaultyCalls()
    let writer = ArchiveWriter(scene.open(.mebibytes(64), calls))
    _ = await writer.restore(Library.types, EntityStore(), FillToken())
    for step in 0..<12 {
      calls.inject(.error(.ENOSPC), after: step, of: [.write], count: 1)
      await writer.save((1...2).map { entry(Book(id: $0, title: "\(step)"), id: $0) })
      calls.recover()
    }
    try await writer.flush(.written).value
    try await writer.close()

    let disk = scene.open()
    let keys = try await disk.contents.map(\.key).collect().value
    #expect(keys.sorted() == ["e/4/book/[1]", "e/4/book/[2]"])
    try await disk.close().value
  }

  @Test func `an archive that is released during a notice still saves what was committed`()
    async throws
  {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = Locked<EntityArchive?>(EntityArchive(of: store, in: disk, types: Library.types))
    _ = try await archive.withLock { $0?.restored }?.value
    let flushed = Locked<Signal<Void>?>(nil)
    let subscription = store.signal(of: Reference<Author>("a")).subscribe(onNext: { change in
      guard change.value != nil else { return }
      store.set(Book(id: 1, title: "last"))
      let gone = archive.withLock { archive in
        defer { archive = nil }
        return archive
      }
      let outcome = gone?.flush()
      flushed.withLock { $0 = outcome }
    })
    store.set(Author(id: "a", name: "Ann"))
    subscription.dispose()
    try await flushed.withLock { $0 }?.value
    try await disk.close().value

    #expect(try await titles() == [1: "last"])
  }
}

private struct Refused: Error {}

/// An entity that cannot be encoded with a certain title.
private struct Moody: Entity, Codable {
  let id: Int
  var title: String

  func encode(to encoder: any Encoder) throws {
    if title == "unspeakable" { throw Refused() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(title, forKey: .title)
  }
}

extension JSONEncoder {
  fileprivate static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}

extension ArchiveWriter {
  fileprivate func close() async throws {
    await save([])
    try await disk.close().value
  }
}

/// An entity whose identity has several parts.
private struct Shelf: Entity, Codable {
  struct Place: Hashable, Codable {
    let room, wall, row, column, depth, side: Int
  }

  let id: Place
}
