import Foundation
import MillpondCore
@testable import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// The process may die at any call that leaves something on disk.
@Suite(.heavy) struct EntityArchiveDeathTests {
  @Test(arguments: [true, false])
  func `of a transaction all is restored or nothing, wherever the process dies`(
    isHalfDone: Bool
  ) async throws {
    var outcomes: Set<String> = []
    for step in 0..<40 {
      let scene = DiskScene()
      let calls = FaultyCalls()
      let (store, disk) = (EntityStore(), scene.open(.mebibytes(64), calls))
      let archive = EntityArchive(of: store, in: disk, types: Library.types)
      _ = try await archive.restored.value
      store.update { books in
        for id in 1...3 { books.set(Book(id: id, title: "old")) }
      }
      try await archive.flush().value

      calls.inject(.death(isHalfDone: isHalfDone), after: step, of: FaultyCalls.Call.effects)
      store.update { books in
        books.set(Book(id: 1, title: "new"))
        books.set(Book(id: 2, title: "new"))
        books.remove(Reference<Book>(3))
      }
      _ = try? await archive.flush().value
      calls.die()
      _ = try? await disk.close().value

      outcomes.insert(try await titles(in: scene))
    }

    #expect(outcomes == ["old old old", "new new –"])
  }

  @Test(arguments: [true, false])
  func `of a transaction during the restoring all is there or nothing, wherever the process dies`(
    isHalfDone: Bool
  ) async throws {
    var outcomes: Set<String> = []
    for step in 0..<40 {
      let scene = DiskScene()
      try await keepTwo(in: scene)
      let calls = FaultyCalls()
      calls.inject(.death(isHalfDone: isHalfDone), after: step, of: FaultyCalls.Call.effects)
      let (store, disk) = (EntityStore(), scene.open(.mebibytes(64), calls))
      let archive = EntityArchive(of: store, in: disk, types: Library.types)

      store.update { books in
        books.remove(Reference<Book>(1))
        books.set(Book(id: 2, title: "new"))
        books.set(Book(id: 3, title: "new"))
      }
      _ = try? await archive.restored.value
      _ = try? await disk.flush().value
      if step % 2 == 0 { _ = try? await archive.flush().value }
      calls.die()
      _ = try? await disk.close().value

      outcomes.insert(try await titles(in: scene))
    }

    #expect(outcomes == ["old old –", "– new new"])
  }

  private func keepTwo(in scene: DiskScene) async throws {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    for id in 1...2 { store.set(Book(id: id, title: "old")) }
    try await archive.flush().value
    try await disk.close().value
  }

  private func titles(in scene: DiskScene) async throws -> String {
    let (store, disk) = (EntityStore(), scene.open())
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    try await disk.close().value
    return (1...3).map { store.get(Reference<Book>($0))?.title ?? "–" }.joined(separator: " ")
  }
}
