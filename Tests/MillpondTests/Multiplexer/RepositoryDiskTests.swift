import Foundation
import MillpondEntityArchive
import MillpondTesting
import Testing

@testable import Millpond

/// A repository with members of every kind, whose files are real.
@Suite struct RepositoryDiskTests {
  private let scene = MediaScene()
  private let repository = Repository()

  private func folder(_ name: String) -> URL { scene.folder.appending(path: name) }

  @Test func `a shutdown saves what every member holds, and releases its folder`() async throws {
    let users = MultiplexerMap<Int, String>(persistence: .disk("users", in: scene.folder)) { _ in
      throw URLError(.notConnectedToInternet)
    }
    let disk = DiskCache(directory: folder("disk"), byteLimit: .mebibytes(1))
    let pictures = MemoryCache<String, Data>(countLimit: 10).layered(over: disk)
    let store = EntityStore()
    let archiveDisk = DiskCache(directory: folder("archive"), byteLimit: .mebibytes(1))
    let archive = EntityArchive(of: store, in: archiveDisk, types: Library.types)
    _ = try await archive.restored.value
    try repository.add(users, named: "users")
    try repository.add(pictures, named: "pictures")
    try repository.add(disk, named: "disk")
    try repository.add(archive, named: "archive")
    users.set("a", for: 1)
    pictures.set(Data([7]), for: "x")
    store.set(Book(id: 1, title: "b"))

    try await repository.shutDown(deadline: .after(.seconds(60))).value

    #expect(try await users.get(1).value == "a")
    await #expect(throws: CacheError.self) { try await disk.get("x").value }
    // Other settings are refused while a folder is in use.
    let again = DiskCache(directory: folder("disk"), byteLimit: .mebibytes(2))
    #expect(try await again.get("x").value == Data([7]))
    try await again.close().value
    let newStore = EntityStore()
    let newArchive = EntityArchive(
      of: newStore, in: DiskCache(directory: folder("archive"), byteLimit: .mebibytes(2)),
      types: Library.types)
    #expect(try await newArchive.restored.value == 1)
  }

  @Test func `a clear empties stores of entities and their archives`() async throws {
    let store = EntityStore()
    let disk = DiskCache(directory: folder("archive"), byteLimit: .mebibytes(1))
    let archive = EntityArchive(of: store, in: disk, types: Library.types)
    _ = try await archive.restored.value
    let other = EntityStore()
    try repository.add(archive, named: "archive")
    try repository.add(other, named: "store")
    for store in [store, other] { store.set(Book(id: 1, title: "b")) }
    try await repository.flush().value

    try await repository.removeAllValues().value

    #expect(store.count == 0)
    #expect(other.count == 0)
    try await disk.close().value
    let newStore = EntityStore()
    let newArchive = EntityArchive(
      of: newStore, in: DiskCache(directory: folder("archive"), byteLimit: .mebibytes(1)),
      types: Library.types)
    #expect(try await newArchive.restored.value == 0)
  }

  @Test func `a composition over a disk can be shut down twice`() async throws {
    let disk = DiskCache(directory: folder("disk"), byteLimit: .mebibytes(1))
    let cache = MemoryCache<String, Data>(countLimit: 10).layered(over: disk)
    cache.set(Data([7]), for: "x")

    for _ in 0..<2 { try await cache.shutDown(deadline: .after(.seconds(60))).value }

    #expect(try await cache.get("x").value == Data([7]))
  }

  @Test func `a media cache transfers nothing after a shutdown, and its files are closed`()
    async throws
  {
    let transport = TestTransport()
    let media = scene.media(over: HTTPSource(transport: transport))
    let url = try #require(URL(string: "http://a/film.mp4"))
    let running = Recorder<DiskFile>().subscribe(to: media.get(url))
    try await transport.source.subscriptions(count: 1)

    let clock = ManualClock()
    let end = Recorder<Void>().subscribe(
      to: media.shutDown(deadline: .after(.seconds(8), clock: clock)))
    clock.advance(by: .seconds(4))
    try await running.ended()
    try await end.ended()

    #expect(end.isCompleted)
    guard case .shutDown(let key?)? = running.failure as? CacheError,
      key.contains("http://a/film.mp4")
    else {
      Issue.record("\(String(describing: running.failure))")
      return
    }
    let later = try await Recorder<DiskFile>.ended(media.get(url))
    #expect(later.failure is CacheError)
    #expect(transport.source.subscriptions == 1)
  }
}
