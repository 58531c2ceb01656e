import Foundation
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// After the end of a scope has succeeded, a search of all files finds nothing of the former user.
@Suite struct SignOutErasureTests {
  private static let mark = "former user's"
  private let root = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  private func folder(_ name: String) -> URL {
    root.appendingPathComponent(name)
  }

  private func traces() -> [String] {
    let names =
      FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      let bytes = try? Data(contentsOf: root.appendingPathComponent(name))
      return bytes?.range(of: Data(Self.mark.utf8)) != nil
    }
  }

  @Test func `every tier of a session is erased by its end`() async throws {
    let session = CacheScope()
    let notes = DiskCache(directory: folder("notes"), byteLimit: .mebibytes(256))
    let mine = MemoryCache<String, [String]>(countLimit: 100)
      .layered(over: notes.mapValues(.json([String].self))).reusingInFlight().scoped(to: session)
    let me = Multiplexer<String>(persistence: .disk("me", in: folder("me")), scope: session) {
      .just("\(Self.mark) profile")
    }
    let store = EntityStore(scope: session)
    let archive = EntityArchive(
      of: store, in: DiskCache(directory: folder("books"), byteLimit: .mebibytes(16)),
      types: [ArchivedType(Book.self, named: "book")])
    _ = try await archive.restored.value
    for number in 0..<100 { mine.set(["\(Self.mark) note \(number)"], for: "\(number)") }
    for number in 0..<40 { mine.remove("\(number)") }
    store.set(Book(id: 1, title: "\(Self.mark) book"))
    _ = try await me.get().value
    try await mine.flush().value
    try await me.flush().value
    try await archive.flush().value
    let before = Set(traces().compactMap { $0.split(separator: "/").first })

    try await session.end().value

    #expect(before == ["notes", "me", "books"])
    #expect(traces() == [])
    #expect(store.count == 0)
    #expect(try await mine.get("99").valueIfAny == nil)
    try await notes.close().value
    try? FileManager.default.removeItem(at: root)
  }

  @Test func `a user's own type is erased with the session, and fails its end while it can't be`()
    async throws
  {
    struct Busy: Error {}
    let session = CacheScope()
    let drafts = Watched<[String]?>(["\(Self.mark) draft"])
    let isBusy = Watched(true)
    let membership = session.add(isPersistent: true) {
      if isBusy.state { return .fail(Busy()) }
      drafts.change { $0 = nil }
      return .just(())
    }

    await #expect(throws: Busy.self) { try await session.end().value }
    isBusy.change { $0 = false }
    try await session.end().value

    #expect(drafts.state == nil)
    membership.dispose()
  }
}
