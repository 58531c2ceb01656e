import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

@Suite struct EntityArchiveTests {
  let scene = DiskScene()
  let book = Reference<Book>(1)

  /// Restores from the folder, runs `use`, and closes everything.
  private func session(
    types: [ArchivedType] = Library.types, _ use: (EntityStore, EntityArchive) throws -> Void
  ) async throws {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: types)
    _ = try await archive.restored.value
    try use(store, archive)
    try await archive.flush().value
    try await disk.close().value
  }

  @Test func `saved entities are there at the next start, and removed ones are not`() async throws {
    try await session { store, _ in
      store.set(Book(id: 1, title: "old", author: Reference("a")))
      store.set(Book(id: 1, title: "kept", author: Reference("a")))
      store.set(Book(id: 2, title: "removed"))
      store.set(Author(id: "a", name: "Ann"))
    }
    try await session { store, _ in store.remove(Reference<Book>(2)) }

    try await session { store, _ in
      #expect(store.get(book) == Book(id: 1, title: "kept", author: Reference("a")))
      #expect(store.get(Reference<Author>("a"))?.name == "Ann")
      #expect(store.get(Reference<Book>(2)) == nil)
      #expect(store.count == 2)
    }
  }

  @Test func `restored values are delivered to their observers, once`() async throws {
    try await session { store, _ in
      store.set(Book(id: 1, title: "kept", author: Reference("a")))
      store.set(Author(id: "a", name: "Ann"))
    }
    let (store, disk) = (EntityStore(), scene.open())
    let titles = Recorder<String?>().subscribe(to: store.signal(of: book).map(\.value?.title))

    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    let count = try await archive.restored.value

    #expect(count == 2)
    #expect(titles.values == [nil, "kept"])
    try await disk.close().value
  }

  @Test func `a write to the store meanwhile wins over the disk`() async throws {
    try await session { store, _ in
      for id in 1...2 { store.set(Book(id: id, title: "old")) }
    }
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    store.set(Book(id: 1, title: "new"))
    store.remove(Reference<Book>(2))
    _ = try await archive.restored.value
    try await archive.flush().value
    try await disk.close().value

    #expect(store.get(book)?.title == "new")
    #expect(store.count == 1)
    try await session { store, _ in
      #expect(store.get(book)?.title == "new")
      #expect(store.count == 1)
    }
  }

  @Test func `an older form is migrated, and saved so`() async throws {
    try await session { store, _ in store.set(Book(id: 1, title: "old")) }
    let newer = ArchivedType(Book.self, named: "book", version: 1) { json, version in
      #expect(version == 0)
      return Data(String(decoding: json, as: UTF8.self).replacing("old", with: "new").utf8)
    }

    try await session(types: [newer]) { store, _ in #expect(store.get(book)?.title == "new") }

    try await session(types: [ArchivedType(Book.self, named: "book", version: 1)]) { store, _ in
      #expect(store.get(book)?.title == "new")
    }
  }

  @Test func `without a migration another form is a miss`() async throws {
    try await session { store, _ in store.set(Book(id: 1, title: "old")) }

    try await session(types: [ArchivedType(Book.self, named: "book", version: 1)]) { store, _ in
      #expect(store.count == 0)
    }
  }

  @Test func `a damaged record is a miss, the others are there`() async throws {
    try await session { store, _ in
      for id in 1...2 { store.set(Book(id: id, title: "good")) }
    }
    try await scene.fill { $0.set(Data("nonsense".utf8), for: "e/4/book/[1]") }

    try await session { store, _ in
      #expect(store.get(book) == nil)
      #expect(store.get(Reference<Book>(2))?.title == "good")
    }
  }

  @Test func `a type that is not archived is left out, and left alone on disk`() async throws {
    try await session { store, _ in
      store.set(Book(id: 1, title: "kept"))
      store.set(Unkept(id: 1))
    }
    try await session(types: [ArchivedType(Author.self, named: "author")]) { store, _ in
      #expect(store.count == 0)
    }
    try await session { store, _ in #expect(store.count == 1) }
  }

  @Test func `pruned entities are removed from the disk, and all of them at an end`() async throws {
    try await session { store, _ in
      for id in 1...3 { store.set(Book(id: id, title: "kept")) }
    }
    try await session { store, _ in
      let subscription = store.signal(of: book).subscribe(onNext: { _ in })
      store.prune()
      subscription.dispose()
    }
    try await session { store, _ in
      #expect(store.count == 1)
      store.end()
      store.set(Book(id: 7, title: "next user's"))
    }
    try await session { store, _ in
      #expect(store.get(book) == nil)
      #expect(store.get(Reference<Book>(7)) != nil)
    }
  }

  @Test func `the end of the scope removes types from the disk that are not listed any more`()
    async throws
  {
    try await session { store, _ in
      store.set(Book(id: 1, title: "former user's"))
      store.set(Author(id: "a", name: "former user's"))
    }
    let (scope, disk) = (CacheScope(), scene.open())
    let store = EntityStore(scope: scope)
    let archive = EntityArchive(
      of: store, in: disk, types: [ArchivedType(Author.self, named: "author")])
    _ = try await archive.restored.value

    try await scope.end().value
    let count = try await disk.count.value
    store.set(Author(id: "b", name: "next user's"))
    try await archive.flush().value
    try await disk.close().value

    #expect(count == 0)
    try await session { store, _ in
      #expect(store.count == 1)
      #expect(store.get(Reference<Author>("b")) != nil)
    }
  }

  @Test func `the end of the scope fails while the disk forgets nothing, and succeeds later`()
    async throws
  {
    let calls = FaultyCalls()
    let (scope, disk) = (CacheScope(), scene.open(.mebibytes(64), calls))
    let store = EntityStore(scope: scope)
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    store.set(Book(id: 1, title: "former user's"))
    try await archive.flush().value

    calls.inject(.error(.EIO), of: FaultyCalls.Call.effects, count: 1_000)
    await #expect(throws: (any Error).self) { try await scope.end().value }
    calls.recover()
    try await scope.end().value
    try await disk.close().value

    try await session { store, _ in #expect(store.count == 0) }
  }

  @Test func `a commit from before the end that is delivered after it is not saved`() async throws {
    let (scope, disk) = (CacheScope(), scene.open())
    let store = EntityStore(scope: scope)
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    let ended = Locked<Signal<Void>?>(nil)
    let subscription = store.signal(of: book).subscribe(onNext: { change in
      // The archive has not received this commit yet.
      guard change.value != nil else { return }
      let outcome = scope.end()
      ended.withLock { $0 = outcome }
    })

    store.set(Book(id: 1, title: "former user's"))
    try await ended.withLock { $0 }?.value
    try await archive.flush().value
    try await disk.close().value

    subscription.dispose()
    try await session { store, _ in #expect(store.count == 0) }
  }

  @Test func `an archive that was released is erased at the next end of its scope`() async throws {
    let scope = CacheScope()
    let store = EntityStore(scope: scope)
    do {
      let disk = scene.open()
      let archive = EntityArchive(of: store, in: disk, types: Library.types)
      _ = try await archive.restored.value
      store.set(Book(id: 1, title: "former user's"))
      try await archive.flush().value
    }

    try await scope.end().value

    let disk = scene.open()
    #expect(try await disk.count.value == 0)
    try await disk.close().value
  }

  @Test func `a full disk fails the flush, and what could not be saved is saved later`()
    async throws
  {
    let calls = FaultyCalls()
    let (store, disk) = (EntityStore(), scene.open(.mebibytes(64), calls))
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    calls.inject(.error(.ENOSPC), of: FaultyCalls.Call.effects, count: 1_000)
    store.set(Book(id: 1, title: "late"))

    await #expect(throws: (any Error).self) { try await archive.flush().value }
    calls.recover()
    try await archive.flush().value
    try await disk.close().value

    try await session { store, _ in #expect(store.get(book)?.title == "late") }
  }
}
