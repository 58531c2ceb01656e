import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct PartialTransfersTests {
  private static func partial(_ count: Int = 20_000, of byte: UInt8 = 1) -> PartialBody {
    PartialBody(
      bytes: Data(repeating: byte, count: count),
      edition: Edition(condition: "\"1\"", validator: Validator(entityTag: "\"1\"")))
  }

  private let scene: ResumingScene

  init() throws {
    scene = try ResumingScene()
  }

  /// What another process would find.
  private func found(_ identity: String, byteLimit: Int = .mebibytes(4)) async throws
    -> PartialBody?
  {
    try await scene.partials(byteLimit: byteLimit).find(identity).value
  }

  private func keep(_ identities: [String], byteLimit: Int = .mebibytes(4)) async throws {
    let partials = scene.partials(byteLimit: byteLimit)
    for identity in identities { partials.keep(Self.partial(), for: identity) }
    try await partials.flush().value
  }

  @Test func `what is kept is found as it was, by its identity alone`() async throws {
    try await keep(["a"])

    #expect(try await found("a") == Self.partial())
    #expect(try await found("b") == nil)
  }

  @Test func `what is being written is found by who asks at once`() async throws {
    let partials = scene.partials()
    try await partials.flush().value

    partials.keep(Self.partial(), for: "a")

    #expect(try await partials.find("a").value == Self.partial())
  }

  @Test func `the newest bytes win`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(of: 1), for: "a")
    partials.keep(Self.partial(of: 2), for: "a")
    try await partials.flush().value

    #expect(try await found("a") == Self.partial(of: 2))
    #expect(scene.fileNames.count == 1)
  }

  @Test func `a few bytes are not worth it`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(16 * 1_024 - 1), for: "a")
    try await partials.flush().value

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `the oldest give way to what is new`() async throws {
    try await keep(["a", "b", "c"], byteLimit: 45_000)

    #expect(try await found("a") == nil)
    #expect(try await found("b") != nil)
    #expect(try await found("c") != nil)
    #expect(scene.fileNames.count == 2)
  }

  @Test func `a smaller limit removes the oldest of an earlier run`() async throws {
    try await keep(["a"])
    try await keep(["b"])

    let partials = scene.partials(byteLimit: 25_000)
    try await partials.flush().value

    #expect(scene.fileNames.count == 1)
  }

  @Test func `what is larger than the limit is not kept`() async throws {
    try await keep(["a"], byteLimit: 19_999)

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `after the removal of all nothing is found`() async throws {
    let partials = scene.partials()
    partials.keep(Self.partial(), for: "a")

    try await partials.removeAll().value

    #expect(try await partials.find("a").value == nil)
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

  @Test func `a folder or a pipe in the place of a file is nothing, and blocks nobody`()
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
    try await scene.ask()
    let name = try #require(scene.fileNames.first)
    let file = scene.folder.appendingPathComponent(name)
    var data = try Data(contentsOf: file)
    data[data.count / 2] ^= 1
    try data.write(to: file)

    try await scene.ask()

    #expect(scene.ranges == [nil, nil])
  }
}
