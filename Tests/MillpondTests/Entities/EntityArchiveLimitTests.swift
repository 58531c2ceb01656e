import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// An archive keeps what it has: at its limit it fails, and evicts nothing.
@Suite struct EntityArchiveLimitTests {
  let scene = DiskScene()

  /// Restores from the folder, runs `use`, and closes.
  private func session(
    _ byteLimit: Int, _ use: (EntityStore, EntityArchive) async throws -> Void
  ) async throws {
    let (store, disk) = (EntityStore(), scene.open(byteLimit))
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    try await use(store, archive)
    try await disk.close().value
  }

  private func fill(_ store: EntityStore, _ ids: Range<Int>, _ letter: Character) {
    store.update { books in
      for id in ids {
        books.set(Book(id: id, title: String(repeating: letter, count: 2_000)))
      }
    }
  }

  /// The first letters of the titles, and how many books have each.
  private func letters(_ store: EntityStore) -> [Character?: Int] {
    (0..<1_000).reduce(into: [:]) { counts, id in
      if let book = store.get(Reference<Book>(id)) { counts[book.title.first, default: 0] += 1 }
    }
  }

  private func isFull(_ error: any Error) -> Bool {
    guard case CacheError.full(let layer, let byteCount, let limit) = error else { return false }
    return layer.hasPrefix("disk in /") && byteCount > limit && "\(error)".contains("byteLimit")
  }

  @Test func `a transaction without room fails the flush, and none of it is restored`()
    async throws
  {
    try await session(.mebibytes(1)) { store, archive in
      fill(store, 0..<100, "a")
      try await archive.flush().value
      fill(store, 0..<700, "b")
      await #expect { try await archive.flush().value } throws: { isFull($0) }
    }

    try await session(.mebibytes(1)) { store, _ in #expect(letters(store) == ["a": 100]) }
  }

  @Test func `of single sets beyond the limit none is lost whose flush has succeeded`()
    async throws
  {
    var kept = 0
    try await session(.mebibytes(1)) { store, archive in
      for id in 0..<700 {
        fill(store, id..<id + 1, "a")
        do { try await archive.flush().value } catch {
          #expect(isFull(error))
          break
        }
        kept += 1
      }
    }

    #expect((100..<700).contains(kept))
    try await session(.mebibytes(1)) { store, _ in #expect(letters(store) == ["a": kept]) }
  }

  @Test func `a removal makes room, also in a full archive`() async throws {
    try await session(.mebibytes(1)) { store, archive in
      var count = 0
      while count < 700 {
        fill(store, count..<count + 1, "a")
        guard (try? await archive.flush().value) != nil else { break }
        count += 1
      }
      store.update { books in
        for id in 50...count { books.remove(Reference<Book>(id)) }
      }
      try await archive.flush().value
      fill(store, 0..<100, "b")
      try await archive.flush().value
    }

    try await session(.mebibytes(1)) { store, _ in #expect(letters(store) == ["b": 100]) }
  }

  @Test func `a lower limit evicts nothing, and fails what is added`() async throws {
    try await session(.mebibytes(4)) { store, archive in
      fill(store, 0..<400, "a")
      try await archive.flush().value
    }

    try await session(.kibibytes(256)) { store, archive in
      #expect(letters(store) == ["a": 400])
      fill(store, 400..<401, "b")
      await #expect { try await archive.flush().value } throws: { isFull($0) }
    }
    try await session(.mebibytes(4)) { store, archive in
      #expect(letters(store) == ["a": 400])
      fill(store, 0..<400, "c")
      try await archive.flush().value
      #expect(letters(store) == ["c": 400])
    }
  }

  @Test func `an entity that is too large fails its transaction until it is smaller`() async throws
  {
    try await session(.mebibytes(1)) { store, archive in
      store.set(Book(id: 1, title: "old"))
      try await archive.flush().value
      store.update { books in
        books.set(Book(id: 1, title: String(repeating: "t", count: 1_500_000)))
        books.set(Book(id: 2, title: "new"))
      }
      for _ in 0..<2 {
        await #expect { try await archive.flush().value } throws: { isFull($0) }
      }
    }

    try await session(.mebibytes(1)) { store, archive in
      #expect(store.count == 1)
      #expect(store.get(Reference<Book>(1))?.title == "old")
      store.set(Book(id: 1, title: String(repeating: "t", count: 1_500_000)))
      await #expect { try await archive.flush().value } throws: { isFull($0) }
      store.set(Book(id: 1, title: "small"))
      try await archive.flush().value
    }
    try await session(.mebibytes(1)) { store, _ in
      #expect(store.get(Reference<Book>(1))?.title == "small")
    }
  }

  @Test func `the cache's own time to live is not that of an archive`() async throws {
    let clock = Locked(WallTime(microseconds: 1_700_000_000_000_000))
    func archive(_ store: EntityStore) -> (EntityArchive, DiskCache) {
      let disk = scene.open { options in
        options.timeToLive = .after(.seconds(60))
        options.now = { clock.withLock { $0 } }
      }
      return (EntityArchive(of: store, in: disk, types: Library.types), disk)
    }
    let (store, later) = (EntityStore(), EntityStore())
    let (first, disk) = archive(store)
    _ = try await first.restored.value
    store.set(Book(id: 1, title: "kept"))
    try await first.flush().value
    try await disk.close().value

    clock.withLock { $0 = WallTime(microseconds: $0.microseconds + 3_600_000_000) }
    let (second, disk2) = archive(later)
    _ = try await second.restored.value
    try await disk2.close().value

    #expect(later.count == 1)
  }
}
