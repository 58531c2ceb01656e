import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "The disk, and what it promises".
@Suite(.timeLimit(.minutes(3))) struct DiskAndItsPromisesTests {
  struct Note: Codable, Sendable, Equatable {
    var text: String
  }

  struct Vault: Sendable {
    func encrypt(_ bytes: Data) throws -> Data { Data(bytes.map { $0 ^ 0x55 }) }
    func decrypt(_ bytes: Data) throws -> Data { Data(bytes.map { $0 ^ 0x55 }) }
  }

  static func notes(in folder: URL) -> (DiskCache, AnyCache<Int, Note>) {
    // snippet
    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    let notes =
      disk
      .mapKeys({ (id: Int) in "note/\(id)" }, inverse: { Int($0.dropFirst("note/".count)) })
      .mapValues(.json(Note.self))
    // end
    return (disk, AnyCache(notes))
  }

  static func store(_ note: Note, in notes: AnyCache<Int, Note>) async throws {
    // snippet
    notes.set(note, for: 1)  // visible at once, written soon
    try await notes.set(note, for: 2).value  // outlives the process from here on
    try await notes.flush(.synchronized)  // everything outlives a power cut
    // end
  }

  static func upgraded(_ value: Data) throws -> Data { value + [2] }

  static func versioned(in folder: URL) -> DiskCache {
    // snippet
    let schema = DiskSchema(version: 2) { value, version in
      version == 1 ? try upgraded(value) : nil  // nil is a miss
    }
    let current = DiskCache(directory: folder, byteLimit: .mebibytes(64), schema: schema)
    // end
    return current
  }

  static func sealed(in folder: URL, by vault: Vault) -> DiskCache {
    // snippet
    let sealed = DiskCache(
      directory: folder, byteLimit: .mebibytes(64),
      sealing: DiskSealing(
        seal: { value, _ in try vault.encrypt(value) },
        open: { value, _ in try vault.decrypt(value) }))
    // end
    return sealed
  }

  static func stream(
    _ pieces: Signal<Data>, to disk: DiskCache, _ play: (URL) -> Void
  ) async throws {
    // snippet
    try await disk.storing(pieces, for: "talk").value
    let talk = try await disk.file(for: "talk").value
    play(talk.url)
    // end
  }

  private let scene = GuideScene()
  private let note = Note(text: "milk")

  @Test func `notes are there after a restart, and can be removed by predicate`() async throws {
    do {
      let (disk, notes) = Self.notes(in: scene.folder)
      try await Self.store(note, in: notes)
      try await disk.close()
    }

    let (_, notes) = Self.notes(in: scene.folder)
    #expect(try await notes.get(1).value == note)
    try await notes.removeAll { $0 == 1 }.value

    #expect(try await notes.get(1).valueIfAny == nil)
    #expect(try await notes.get(2).value == note)
  }

  @Test func `a value of version 1 is migrated`() async throws {
    let old = DiskCache(
      directory: scene.folder, byteLimit: .mebibytes(64), schema: DiskSchema(version: 1))
    try await old.set(Data([1]), for: "a").value
    try await old.close()

    #expect(try await Self.versioned(in: scene.folder).get("a").value == Data([1, 2]))
  }

  @Test func `sealed bytes are not in the files`() async throws {
    let secret = Data("the secret words".utf8)
    let disk = Self.sealed(in: scene.folder, by: Vault())
    try await disk.set(secret, for: "a").value

    #expect(try await disk.get("a").value == secret)
    for name in try FileManager.default.contentsOfDirectory(atPath: scene.folder.path) {
      let file = try Data(contentsOf: scene.folder.appendingPathComponent(name))
      #expect(file.range(of: secret) == nil)
    }
  }

  @Test func `pieces become a file`() async throws {
    let disk = DiskCache(directory: scene.folder, byteLimit: .mebibytes(64))

    try await Self.stream(.of(Data([1]), Data([2])), to: disk) {
      #expect((try? Data(contentsOf: $0)) == Data([1, 2]))
    }
  }
}
