import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// What can be read in the files about the secrets of requests.
@Suite(.timeLimit(.minutes(3))) struct SecretsOnDiskTests {
  private let scene = DiskScene()

  /// The bytes of all files of the scene's folder, and their names.
  private func written() -> String {
    let names =
      FileManager.default.enumerator(atPath: scene.folder.path)?
      .compactMap { $0 as? String } ?? []
    #expect(names.count > 1)
    return names.reduce(into: "") { text, name in
      let url = scene.folder.appending(path: name)
      let bytes = (try? Data(contentsOf: url)) ?? Data()
      text += "\(name)\n\(String(decoding: bytes, as: UTF8.self))\n"
    }
  }

  private static let secrets: HeaderFields = ["Authorization": "Bearer hidden-token"]

  private static func request() throws -> HTTPRequest {
    HTTPRequest(
      url: try #require(URL(string: "http://a/film?signature=hidden-query")), credentials: secrets)
  }

  @Test func `an HTTP cache writes neither queries nor credentials`() async throws {
    let origin = ScriptedOrigin { _, _ in .ok("max-age=600 | Vary: Authorization", "body") }
    let disk = scene.open()
    let cache = HTTPCache(over: origin, in: disk)

    _ = try await HTTPCacheScene.answer(cache.send(Self.request()))
    try await disk.flush()

    #expect(!written().contains("hidden"))
    #expect(try await HTTPCacheScene.answer(cache.send(Self.request())).contains("age"))
    #expect(origin.count == 1)
    try await disk.close()
  }

  @Test func `URLs that differ in their queries have responses of their own`() async throws {
    let scene = HTTPCacheScene { request, _ in .ok("max-age=600", request.url.query() ?? "") }

    _ = try await scene.send(path: "/a?x=1")
    _ = try await scene.send(path: "/a?x=2")

    #expect(try await scene.send(path: "/a?x=1") == "200 age 0 x=1")
    #expect(try await scene.send(path: "/a?x=2") == "200 age 0 x=2")
    #expect(scene.origin.count == 2)
  }

  @Test func `the hashes of one credential have nothing in common`() throws {
    let request = ParsedRequest(try Self.request())
    let heads = try (0..<2).map { _ in
      try #require(
        StoredResponse(
          HTTPHead(status: 200), to: request, requestTime: .now, responseTime: .now))
    }

    #expect(heads[0].variant.credentials != heads[1].variant.credentials)
    #expect(heads.allSatisfy { $0.matches(request) })
    let other = ParsedRequest(method: "GET", headers: [:])
    #expect(heads.allSatisfy { !$0.matches(other) })
  }

  @Test func `a store of partial transfers writes neither URLs nor credentials`() async throws {
    try scene.makeFolder()
    let partials = PartialTransfers(directory: scene.folder, byteLimit: 1 << 20)
    let version = ResourceVersion(condition: "\"1\"", validator: Validator(entityTag: "\"1\""))
    let place = PartialPlace(
      representation: try Self.request().representation, revision: .next())
    let body = PartialBody(bytes: Data(repeating: 1, count: 20_000), version: version)

    partials.keep(body, at: place)
    try Data().write(to: scene.folder.appending(path: "other"))
    try await partials.flush()

    let text = written()
    #expect(!text.contains("hidden") && !text.contains("film"))
    #expect(try await partials.find(place).value == body)
  }

  @Test func `files that former versions have left are removed at the next start`() async throws {
    try scene.makeFolder()
    let former = [".streamed", ".streamed.new", ".running", ".journal"].map {
      "0123456789abcdef" + $0
    }
    for name in former + ["a.streamed"] {
      try Data().write(to: scene.folder.appending(path: name))
    }

    try await PartialTransfers(directory: scene.folder, byteLimit: 1 << 20).flush()

    let left = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path)
    #expect(left == ["a.streamed"])
  }

  /// - Source: RFC 4231, test cases 1, 2 and 6.
  @Test(arguments: [
    ([UInt8](repeating: 0x0b, count: 20), "Hi There", 0xb034_4c61),
    (Array("Jefe".utf8), "what do ya want for nothing?", 0x5bdc_c146),
    (
      [UInt8](repeating: 0xaa, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First", 0x60e4_3159
    ),
  ])
  func `a hash under a key is that of the standard`(key: [UInt8], text: String, first: UInt32) {
    #expect(SHA256.hash(Array(text.utf8), key: key).first == first)
  }

  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb924"), (55, "9f4390f8d30c2dd92ec9f095b65e2b9a"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f"), (64, "ffe054fe7ae0cb6dc65c3af9b61d5209"),
    (1_000, "41edece42d63e8d9bf515a9ba6932e1c"),
  ])
  func `a hash is that of the standard`(count: Int, expected: String) {
    let words = SHA256.hash(Array(repeating: UInt8(ascii: "a"), count: count))

    let digits = words.prefix(4).map { word in
      let text = String(word, radix: 16)
      return String(repeating: "0", count: 8 - text.count) + text
    }
    #expect(digits.joined() == expected)
  }
}
