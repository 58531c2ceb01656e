import Foundation
import MillpondCore
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPCacheRecordTests {
  private let codec = Codec<Data, HTTPCacheRecord>.httpRecords

  private func heads() throws -> [StoredResponse] {
    try ["A: 1", "A: 2 | Authorization: x"].map { request in
      try #require(
        StoredResponse(
          HTTPHead(
            status: 404, headers: CachingRow.fields("max-age=9 | Vary: A, B | ETag: \"é\" | X: ")),
          to: ParsedRequest(method: "GET", headers: CachingRow.fields(request)),
          requestTime: CachingRow.time(-1), responseTime: CachingRow.time(0),
          body: StoredBody(byteCount: 12, isWhole: request == "A: 1")))
    }
  }

  @Test func `heads are the same after a way through bytes`() async throws {
    let before = try heads()

    let after = try #require(
      try await codec.decode(codec.encode(HTTPCacheRecord(.heads(before)))).heads)

    #expect(after.count == 2)
    for (before, after) in zip(before, after) {
      #expect(after.status == before.status)
      #expect(after.headers.fields.map { "\($0)" } == before.headers.fields.map { "\($0)" })
      #expect(after.requestTime == before.requestTime)
      #expect(after.responseTime == before.responseTime)
      #expect(after.variant == before.variant)
      #expect(after.body == before.body)
      #expect(after.parsed.entityTag == before.parsed.entityTag)
    }
  }

  @Test(arguments: [0, 1, 1_000])
  func `a body is the same after a way through bytes`(count: Int) async throws {
    let body = Data(repeating: 9, count: count)

    let after = try await codec.decode(codec.encode(HTTPCacheRecord(.body(body)))).body

    #expect(after == body)
    #expect(after?.startIndex == 0)
  }

  @Test func `no secret is written`() async throws {
    let request = HTTPRequest(
      url: try #require(URL(string: "http://a/")), headers: ["Cookie": "cookie-secret"],
      credentials: ["Authorization": "token-secret"])
    let stored = try #require(
      StoredResponse(
        HTTPHead(status: 200, headers: ["Vary": "Cookie"]), to: request, requestTime: .now,
        responseTime: .now))

    let bytes = try await codec.encode(HTTPCacheRecord(.heads([stored])))

    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
  }

  @Test func `damaged bytes are a failure or a record, never a trap`() async throws {
    let whole = try await codec.encode(HTTPCacheRecord(.heads(heads())))
    var random = SeededGenerator(seed: 1)
    for count in 0..<whole.count - 1 {
      // With the last byte, so that the rest is read.
      await #expect(throws: (any Error).self) { try await codec.decode(whole.prefix(count) + [2]) }
    }
    for _ in 0..<2_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] =
          [0, 1, 2, 127, 128, 255]
          .randomElement(using: &random) ?? 0
      }
      let heads = try? await codec.decode(bytes).heads
      for head in heads ?? [] {
        _ = HTTPCacheRules.standard.decision(
          for: ParsedRequest(method: "GET", headers: [:]), stored: head, at: CachingRow.time(1))
      }
    }
  }
}
