import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct PartialTransfersTests {
  private static func partial(
    _ count: Int = 20_000, of byte: UInt8 = 1, tag: String = "\"1\""
  ) -> PartialBody {
    PartialBody(
      bytes: Data(repeating: byte, count: count),
      version: ResourceVersion(condition: tag, validator: Validator(entityTag: tag)))
  }

  private let scene: ResumingScene

  init() throws {
    scene = try ResumingScene()
  }

  /// Returns the contents that another process would find.
  private func found(_ identity: String, byteLimit: Int = .mebibytes(4)) async throws
    -> PartialBody?
  {
    try await scene.partials(byteLimit: byteLimit).find(Self.place(identity)).value
  }

  /// Returns the place of a transfer that begins now.
  private static func place(_ identity: String = "a") -> PartialPlace {
    PartialPlace(representation: Representation(identity: identity), revision: .next())
  }

  private func keep(_ identities: [String], byteLimit: Int = .mebibytes(4)) async throws {
    let partials = scene.partials(byteLimit: byteLimit)
    for identity in identities { partials.keep(Self.partial(), at: Self.place(identity)) }
    try await partials.flush().value
  }

  @Test func `a kept body is found as it was, by its identity alone`() async throws {
    try await keep(["a"])

    #expect(try await found("a") == Self.partial())
    #expect(try await found("b") == nil)
  }

  @Test func `a value that is being written is found by an immediate get`() async throws {
    let partials = scene.partials()
    try await partials.flush().value

    partials.keep(Self.partial(), at: Self.place())

    #expect(try await partials.find(Self.place()).value == Self.partial())
  }

  @Test func `the newest version wins`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(30_000, of: 1), at: Self.place())
    partials.keep(Self.partial(20_000, of: 2, tag: "\"2\""), at: Self.place())
    try await partials.flush().value

    #expect(try await found("a") == Self.partial(20_000, of: 2, tag: "\"2\""))
    #expect(scene.fileNames.count == 2)
  }

  @Test func `bytes that were damaged are not in the way of fewer`() async throws {
    try await keep(["a"])
    let file = scene.folder.appendingPathComponent(try #require(scene.fileNames.first))
    var data = try Data(contentsOf: file)
    data[data.count - 1] ^= 1
    try data.write(to: file)
    let partials = scene.partials()
    #expect(try await partials.find(Self.place()).value == nil)

    partials.keep(Self.partial(17_000), at: Self.place())
    try await partials.flush().value

    #expect(try await found("a") == Self.partial(17_000))
  }

  @Test(arguments: [FaultyCalls.Call.make, .write, .close, .rename])
  func `of a body that can't be written nothing is left, and nothing of the former one`(
    call: FaultyCalls.Call
  ) async throws {
    let calls = FaultyCalls()
    let partials = PartialTransfers(
      directory: scene.folder, byteLimit: .mebibytes(4), FileSystem(calls))
    partials.keep(Self.partial(20_000), at: Self.place())
    try await partials.flush().value
    calls.inject(.error(.ENOSPC), of: [call])

    partials.keep(Self.partial(30_000), at: Self.place())
    try await partials.flush().value
    #expect(!calls.isWaiting)
    #expect(try await partials.find(Self.place()).value == nil)
    #expect(scene.fileNames.isEmpty)
  }

  @Test func `files that the index does not know are removed with all the rest`() async throws {
    let partials = scene.partials()
    try await partials.flush().value
    try await keep(["a"])
    let name = try #require(scene.fileNames.first)
    try Data([1]).write(to: scene.folder.appendingPathComponent(name + ".new"))

    try await partials.removeAll().value

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `a removal that can't be carried out fails, and can be tried again`() async throws {
    let calls = FaultyCalls()
    let partials = PartialTransfers(
      directory: scene.folder, byteLimit: .mebibytes(4), FileSystem(calls))
    partials.keep(Self.partial(), at: Self.place())
    try await partials.flush().value
    calls.inject(.error(.EACCES), of: [.remove])

    await #expect(throws: CacheError.self) { try await partials.removeAll().value }
    try await partials.removeAll().value

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `what a removal of everything could not remove hinders no later bytes`() async throws {
    let calls = FaultyCalls()
    let partials = PartialTransfers(
      directory: scene.folder, byteLimit: .mebibytes(4), FileSystem(calls))
    for identity in ["a", "b"] { partials.keep(Self.partial(), at: Self.place(identity)) }
    try await partials.flush().value
    calls.inject(.error(.EBUSY), of: [.remove], count: 2)
    await #expect(throws: CacheError.self) { try await partials.removeAll().value }

    partials.keep(Self.partial(17_000), at: Self.place("a"))
    try await partials.flush().value
    #expect(!calls.isWaiting)
    #expect(try await partials.find(Self.place("a")).value == Self.partial(17_000))
    #expect(try await partials.find(Self.place("b")).value == nil)
  }

  @Test func `a journal that could not be removed goes before the next download`() async throws {
    let calls = FaultyCalls()
    let partials = PartialTransfers(
      directory: scene.folder, byteLimit: .mebibytes(4), FileSystem(calls))
    let (file, version) = (try unfinished("first"), Self.partial().version)
    let journal = PartialJournal(partials)
    journal.follow(version, at: Self.place()) { true }
    journal.note(file)
    calls.inject(.error(.EBUSY), of: [.remove])
    journal.note(nil)
    #expect(!calls.isWaiting)
    #expect(scene.fileNames.count == 3)

    let next = PartialJournal(partials)
    next.follow(version, at: Self.place()) { true }
    next.note(file)
    #expect(scene.fileNames.count == 3)
    next.note(nil)

    #expect(scene.fileNames == ["first"])
  }

  @Test func `a transfer that began before a removal of everything keeps and finds nothing`()
    async throws
  {
    let partials = scene.partials()
    let former = Self.place()
    try await partials.removeAll().value

    partials.keep(Self.partial(), at: former)
    try await partials.flush().value
    #expect(scene.fileNames.isEmpty)

    partials.keep(Self.partial(), at: Self.place())
    #expect(try await partials.find(former).value == nil)
    #expect(try await partials.find(Self.place()).value != nil)
  }

  @Test func `bytes that wait to be written are removed too`() async throws {
    let partials = scene.partials()
    let place = Self.place()
    partials.keep(Self.partial(), at: place)

    let removal = partials.removeAll()
    partials.keep(Self.partial(), at: place)

    try await removal.value
    try await partials.flush().value
    #expect(scene.fileNames.isEmpty)
  }

  /// Returns a file as a stream leaves it.
  private func unfinished(_ name: String, _ byteCount: Int = 300_032) throws -> UnfinishedFile {
    let file = scene.folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: scene.folder, withIntermediateDirectories: true)
    try Data(count: byteCount).write(to: file)
    return UnfinishedFile(path: file.path, byteCount: byteCount, checksum: 7)
  }

  @Test func `bytes that are lent are left alone by other transfers of the resource`() async throws
  {
    let partials = scene.partials()
    let version = Self.partial().version
    #expect(partials.keep(try unfinished("first"), version, at: Self.place()))
    let lent = try #require(try await partials.lend(Self.place()).value)

    let other = try await partials.lend(Self.place()).value
    #expect(other == nil)
    #expect(!partials.keep(try unfinished("second", 600_000), version, at: Self.place()))
    partials.drop(Self.place("a"))
    try await partials.flush().value

    let file = try #require(lent.file.take())
    #expect(file.byteCount == 300_032)
    #expect(FileManager.default.fileExists(atPath: file.path))
    #expect(scene.fileNames.contains("second"))
  }

  @Test func `a file goes on with bytes from memory, and memory with those of a file`()
    async throws
  {
    let partials = scene.partials()
    partials.keep(Self.partial(30_016), at: Self.place("a"))
    let bytes = Data(count: 300_000)
    let sum = bytes.withUnsafeBytes { FileChecksum(of: $0).sum }
    let file = UnfinishedFile(
      path: try unfinished("b").path, byteCount: bytes.count, checksum: sum)
    #expect(partials.keep(file, Self.partial().version, at: Self.place("b")))

    let lent = try await partials.lend(Self.place("a")).value
    let found = try await partials.find(Self.place("b")).value

    #expect(lent?.resumePoint == Self.partial(30_016).resumePoint)
    #expect(found?.bytes == bytes)
  }

  @Test func `a file does not go on with bytes after which no checksum can`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(30_001), at: Self.place())

    let lent = try await partials.lend(Self.place()).value

    #expect(lent == nil)
    #expect(try await partials.find(Self.place()).value == Self.partial(30_001))
  }

  @Test func `more bytes than a caller accepts are not found, and stay`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(), at: Self.place())

    #expect(try await partials.find(Self.place(), byteLimit: 19_999).value == nil)

    #expect(try await partials.find(Self.place(), byteLimit: 20_000).value == Self.partial())
  }

  @Test func `a few bytes are not worth it`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(16 * 1_024 - 1), at: Self.place())
    try await partials.flush().value

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `the oldest entries are evicted for new ones`() async throws {
    try await keep(["a", "b", "c"], byteLimit: 45_000)

    #expect(try await found("a") == nil)
    #expect(try await found("b") != nil)
    #expect(try await found("c") != nil)
    #expect(scene.fileNames.count == 4)
  }

  @Test func `a smaller limit removes the oldest of an earlier run`() async throws {
    try await keep(["a"])
    try await keep(["b"])

    let partials = scene.partials(byteLimit: 25_000)
    try await partials.flush().value

    #expect(scene.fileNames.count == 2)
  }

  @Test func `a body larger than the limit is not kept`() async throws {
    try await keep(["a"], byteLimit: 19_999)

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `after the removal of all nothing is found`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(), at: Self.place())

    try await partials.removeAll().value

    #expect(try await partials.find(Self.place()).value == nil)
    #expect(scene.fileNames.isEmpty)
  }

  @Test func `files of others are left alone, and our own that are half written are not`()
    async throws
  {
    try await keep(["a"])
    let mine = try #require(scene.fileNames.first)
    let others = ["notes.txt", "0123.partial", "ABCDEF0123456789.partial", "a.new"]
    for name in others + [mine + ".new"] {
      try Data([1]).write(to: scene.folder.appendingPathComponent(name))
    }

    let partials = scene.partials(byteLimit: 0)
    try await partials.removeAll().value

    #expect(scene.fileNames == others.sorted())
  }

  @Test func `a folder or a pipe in the place of a file is nothing, and blocks no caller`()
    async throws
  {
    try await keep(["a", "b"])
    for (number, name) in scene.fileNames.enumerated() {
      let path = scene.folder.appendingPathComponent(name).path
      try FileManager.default.removeItem(atPath: path)
      if number == 0 {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: false)
      } else {
        #expect(mkfifo(path, 0o600) == 0)
      }
    }

    #expect(try await found("a") == nil)
    #expect(try await found("b") == nil)
  }

  @Test func `a folder that can't be made fails nothing`() async throws {
    let blocked = scene.folder.appendingPathComponent("file")
    try FileManager.default.createDirectory(
      at: scene.folder, withIntermediateDirectories: true)
    try Data([1]).write(to: blocked)
    let partials = PartialTransfers(
      directory: blocked.appendingPathComponent("folder"), byteLimit: .mebibytes(4))
    let url = try scene.origin.url("/film")

    try await Recorder.outcome(of: HTTPSource(resuming: partials), url)
    try await Recorder.outcome(of: HTTPSource(resuming: partials), url)

    #expect(scene.ranges == [nil, nil])
  }

  @Test func `files are for their owner only`() async throws {
    try await keep(["a"])

    let name = try #require(scene.fileNames.first)
    let files = FileManager.default
    let file = try files.attributesOfItem(atPath: scene.folder.appendingPathComponent(name).path)
    let folder = try files.attributesOfItem(atPath: scene.folder.path)
    #expect((file[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect((folder[.posixPermissions] as? NSNumber)?.intValue == 0o700)
  }

  @Test func `a damaged file has all asked for`() async throws {
    try await scene.get()
    let name = try #require(scene.fileNames.first)
    let file = scene.folder.appendingPathComponent(name)
    var data = try Data(contentsOf: file)
    data[data.count / 2] ^= 1
    try data.write(to: file)

    try await scene.get()

    #expect(scene.ranges == [nil, nil])
  }
}
