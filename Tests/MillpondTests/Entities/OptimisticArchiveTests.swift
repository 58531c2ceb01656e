import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Optimistic writes and the copy on disk, which a new process starts with.
@Suite struct OptimisticArchiveTests {
  let scene = DiskScene()

  /// Restores from the folder, runs `use`, saves, and leaves as a process that dies.
  private func session(_ use: (EntityStore) -> Void) async throws {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    use(store)
    try await archive.flush().value
    try await disk.close().value
  }

  private func titles(in store: EntityStore) -> [String?] {
    (1...4).map { store.get(Reference<Book>($0))?.title }
  }

  @Test func `a write that is not confirmed when the process dies is gone afterwards`() async throws
  {
    let confirmed = PublishSubject<Void>()
    try await session { store in
      for id in 1...2 { store.set(Book(id: id, title: "old")) }
    }

    try await session { store in
      store.set(Book(id: 1, title: "optimistic"), confirmedBy: Signal<Void>.never)
      store.remove(Reference<Book>(2), confirmedBy: Signal<Void>.never)
      store.set(Book(id: 3, title: "optimistic"), confirmedBy: Signal<Void>.never)
      store.set(Book(id: 4, title: "confirmed"), confirmedBy: confirmed.signal)
      confirmed.completed()
      #expect(titles(in: store) == ["optimistic", nil, "optimistic", "confirmed"])
    }

    try await session { store in
      #expect(titles(in: store) == ["old", "old", nil, "confirmed"])
    }
  }

  @Test func `confirmed and refused writes are archived as the server has them`() async throws {
    let (refused, answered) = (PublishSubject<Void>(), PublishSubject<Book>())
    try await session { store in
      store.set(Book(id: 1, title: "old"))
      store.set(Book(id: 1, title: "refused"), confirmedBy: refused.signal)
      store.set(Book(id: 2, title: "draft"), confirmedBy: answered.signal)
      refused.failed(CancellationError())
      answered.next(Book(id: 2, title: "server's"))
      answered.completed()
    }

    try await session { store in
      #expect(titles(in: store) == ["old", "server's", nil, nil])
    }
  }

  @Test func `a removal that waits while the entity is restored does not lose it`() async throws {
    try await session { $0.set(Book(id: 1, title: "old")) }
    let request = PublishSubject<Void>()
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    store.remove(Reference<Book>(1), confirmedBy: request.signal)
    _ = try await archive.restored.value
    try await archive.flush().value
    #expect(titles(in: store)[0] == nil)

    request.failed(CancellationError())
    #expect(titles(in: store)[0] == "old")
    try await archive.flush().value
    try await disk.close().value

    try await session { #expect(titles(in: $0)[0] == "old") }
  }

  @Test func `a transaction that is confirmed later is saved as a whole`() async throws {
    let request = PublishSubject<Void>()
    try await session { store in
      store.update(confirmedBy: request.signal) { library in
        library.set(Book(id: 1, title: "new", author: Reference("a")))
        library.set(Author(id: "a", name: "Ann"))
      }
      request.completed()
    }

    try await session { store in
      #expect(titles(in: store)[0] == "new")
      #expect(store.get(Reference<Author>("a"))?.name == "Ann")
    }
  }
}
