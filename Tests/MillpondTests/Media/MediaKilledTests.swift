import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Downloads that a kill interrupts, and the next process resumes.
@Suite(.timeLimit(.minutes(3))) struct MediaKilledTests {
  private static let byteCount = 6_000_000

  /// The whole pieces of the checksum that have been noted.
  private static let rest = "bytes=4980736-"

  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")
  private let origin = RangingOrigin(byteCount: byteCount)
  private let transport = TestTransport()

  private func url() throws -> URL {
    try #require(URL(string: "http://a/film"))
  }

  private func partials(_ process: String) -> PartialTransfers {
    PartialTransfers(
      directory: folder.appendingPathComponent("\(process)/partials"), byteLimit: .mebibytes(16))
  }

  private func media(_ process: String, over transport: any HTTPTransport) -> MediaCache<URL> {
    let disk = DiskCache(
      directory: folder.appendingPathComponent("\(process)/disk"), byteLimit: .mebibytes(16))
    return MediaCache(
      disk, over: HTTPSource(transport: transport, resuming: partials(process)), limitedTo: 1,
      name: \.absoluteString)
  }

  private func names(_ process: String) -> [String] {
    let path = folder.appendingPathComponent("\(process)/partials").path
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  private func file(_ process: String, _ kind: PartialFiles.Kind) throws -> URL {
    let name = PartialFiles.name(of: try url().absoluteString)
    return folder.appendingPathComponent("\(process)/partials/\(name)\(kind.rawValue)")
  }

  /// Fetches most of the film, and copies the folders as the death of the process would leave them.
  private func fetchMost() async throws -> Recorder<DiskFile> {
    let answer = Recorder<DiskFile>().subscribe(to: try media("first", over: transport).get(url()))
    try await transport.source.subscriptions(count: 1)
    let headers: HeaderFields = ["Content-Length": "\(Self.byteCount)", "ETag": "\"1\""]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    // So large that the sender waits until it is written.
    transport.source.next(.body(origin.body.prefix(5_000_000)))
    try FileManager.default.copyItem(
      at: folder.appendingPathComponent("first"), to: folder.appendingPathComponent("next"))
    return answer
  }

  /// Fetches the film in the next process, and returns the ranges of its requests.
  private func fetchAgain() async throws -> [String?] {
    let film = try await media("next", over: origin).get(url()).value
    #expect(try Data(contentsOf: film.url) == origin.body)
    return origin.ranges
  }

  @Test func `a film goes on where the process had noted it`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await fetchMost().dispose()

    #expect(try await fetchAgain() == [Self.rest])

    try await partials("next").flush().value
    #expect(names("next").isEmpty)
  }

  @Test func `bytes that differ from their record are not resumed`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await fetchMost().dispose()
    let file = try file("next", .bytes)
    var bytes = try Data(contentsOf: file)
    bytes[1_000_000] ^= 1
    try bytes.write(to: file)

    #expect(try await fetchAgain() == [Self.rest, nil])
  }

  @Test(arguments: [PartialFiles.Kind.head, .bytes])
  func `without its note, or with fewer bytes than noted, a film is fetched anew`(
    kind: PartialFiles.Kind
  ) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await fetchMost().dispose()
    let half = try file("next", kind)
    try Data(contentsOf: half).prefix(100).write(to: half)

    #expect(try await fetchAgain() == [nil])

    try await partials("next").flush().value
    #expect(names("next").isEmpty)
  }

  @Test func `the file of a film that had come as a whole is left alone`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await fetchMost().dispose()
    let value = folder.appendingPathComponent("value")
    try FileManager.default.linkItem(at: file("next", .bytes), to: value)
    let size = try Data(contentsOf: value).count

    #expect(try await fetchAgain() == [nil])

    #expect(try Data(contentsOf: value).count == size)
  }

  @Test func `a running download is not treated as one of a dead process`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let answer = try await fetchMost()
    let present = names("first")
    #expect(present.count == 2)

    try await partials("first").flush().value

    #expect(names("first") == present)
    transport.source.next(.body(origin.body.dropFirst(5_000_000)))
    transport.source.completed()
    try await answer.ended()
    let film = try #require(answer.values.first)
    #expect(try Data(contentsOf: film.url) == origin.body)
    #expect(names("first").isEmpty)
  }

  @Test func `files left by a dead process go with a removal of everything`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await fetchMost().dispose()

    try await partials("next").removeAll().value

    #expect(names("next").isEmpty)
  }
}
