import Foundation
import Testing

@testable import Millpond

@Suite struct StoredResponseTests {
  static let url = URL(string: "http://example.org/a/b?c")

  private func stored(
    _ fields: String, status: Int = 200, to request: String = "", at time: Int = 0
  ) throws -> StoredResponse {
    try #require(
      StoredResponse(
        HTTPHead(status: status, headers: CachingRow.fields(fields)), to: get(request),
        requestTime: CachingRow.time(time), responseTime: CachingRow.time(time),
        body: StoredBody(number: .none, byteCount: 100)))
  }

  private func get(_ fields: String = "") -> ParsedRequest {
    ParsedRequest(method: "GET", headers: CachingRow.fields(fields))
  }

  // MARK: Validation (RFC 9111 §4.3)

  @Test(arguments: [
    ("ETag: \"a\"", ["If-None-Match: \"a\""]),
    ("ETag: W/\"a\"", ["If-None-Match: W/\"a\""]),
    ("ETag: \"\"", ["If-None-Match: \"\""]),
    ("ETag: a", []), ("ETag: \"a", []), ("ETag: \"a\"b\"", []), ("ETag: w/\"a\"", []),
    ("ETag: \"a b\"", []), ("ETag: \"a\" | ETag: \"b\"", []),
    ("ETag: \"a\" | ETag: \"a\"", ["If-None-Match: \"a\""]),
    ("Last-Modified: nonsense", []),
    (
      "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT",
      ["If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"]
    ),
    (
      "ETag: \"a\" | Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT",
      ["If-None-Match: \"a\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"]
    ),
  ])
  func `a question names the valid validators`(fields: String, conditions: [String]) throws {
    #expect(try stored(fields).validator.conditions.map { "\($0.name): \($0.value)" } == conditions)
  }

  @Test(arguments: [
    // What is stored, the 304, whether it was asked for, whether it confirms.
    ("ETag: \"a\"", "ETag: \"a\"", true, true),
    ("ETag: \"a\"", "ETag: \"a\"", false, true),
    ("ETag: \"a\"", "ETag: \"b\"", true, false),
    ("ETag: \"a\"", "ETag: W/\"a\"", true, true),
    ("ETag: W/\"a\"", "ETag: W/\"a\"", true, true),
    ("ETag: W/\"a\"", "ETag: W/\"a\"", false, false),
    ("ETag: W/\"a\"", "ETag: \"a\"", true, true),
    ("ETag: W/\"a\"", "ETag: W/\"b\"", true, false),
    ("ETag: \"a\"", "", true, true),
    ("ETag: \"a\"", "", false, false),
    ("ETag: \"a\"", "ETag: b", true, false),
    ("ETag: \"a\"", "ETag: \"a\" | ETag: \"b\"", true, false),
    ("", "ETag: \"a\"", true, false),
    ("Last-Modified: @-9", "Last-Modified: @-9", true, true),
    ("Last-Modified: @-9", "Last-Modified: @-9", false, false),
    ("Last-Modified: @-9", "Last-Modified: @-8", true, false),
    ("Last-Modified: @-9", "", true, true),
    ("Last-Modified: @-9", "", false, false),
    ("Last-Modified: @-9", "ETag: \"a\" | Last-Modified: @-9", true, false),
    ("ETag: \"a\" | Last-Modified: @-9", "Last-Modified: @-8", true, true),
    ("ETag: \"a\" | Last-Modified: @-9", "ETag: \"b\" | Last-Modified: @-9", true, false),
  ])
  func `a 304 confirms only the version that it names, or that was asked about`(
    fields: String, answer: String, isAsked: Bool, isConfirmed: Bool
  ) throws {
    let head = HTTPHead(status: 304, headers: CachingRow.fields(answer))

    #expect(try stored(fields).isConfirmed(by: head, isAsked: isAsked) == isConfirmed)
  }

  @Test func `a 304 replaces fields and times, and leaves those of the body`() throws {
    let first = try stored(
      """
      max-age=60 | Date: @-5 | Age: 5 | ETag: "a" | X: 1 | X: 2 | Y: 1 | Content-Type: text/plain \
      | Content-Length: 100 | Content-Encoding: gzip
      """)
    let head = HTTPHead(
      status: 304,
      headers: CachingRow.fields(
        """
        max-age=90 | x: 3 | Content-Type: text/html | Content-Length: 0 | Content-Encoding: br \
        | Content-Range: bytes 0-0/1 | Connection: close, Z | Z: 1 | Set-Cookie: a
        """))

    let updated = try #require(
      first.updated(
        by: head, for: get(), requestTime: CachingRow.time(70), responseTime: CachingRow.time(71)))

    #expect(updated.status == 200)
    #expect(updated.body == first.body)
    let fields = updated.headers.fields.map { "\($0.name): \($0.value)" }.sorted()
    #expect(
      fields == [
        "Cache-Control: max-age=90", "Content-Encoding: gzip", "Content-Length: 100",
        "Content-Type: text/plain", "ETag: \"a\"", "Set-Cookie: a", "Y: 1", "x: 3",
      ])
    // Neither the old date nor the old age makes it look older.
    #expect(updated.age(at: CachingRow.time(81)) == 11_000_000)
  }

  @Test func `an update with a Vary that nothing matches leaves nothing`() throws {
    let head = HTTPHead(status: 304, headers: ["Vary": "*"])

    let updated = try stored("ETag: \"a\"").updated(
      by: head, for: get(), requestTime: CachingRow.time(0), responseTime: CachingRow.time(0))

    #expect(updated == nil)
  }

  @Test(arguments: [
    (200, "ETag: \"a\"", true), (200, "ETag: \"b\"", false), (200, "", false),
    (404, "ETag: \"a\"", false), (200, "ETag: \"a\" | Content-Length: 100", true),
    (200, "ETag: \"a\" | Content-Length: 99", false),
    (200, "ETag: \"a\" | Last-Modified: @-9", false),
  ])
  func `an answer to HEAD describes what is stored if its validators and length are the same`(
    status: Int, fields: String, isDescribed: Bool
  ) throws {
    let head = HTTPHead(status: status, headers: CachingRow.fields(fields))

    #expect(
      try stored("ETag: \"a\" | Content-Length: 100").isDescribed(by: head) == isDescribed)
  }

  // MARK: Variants (RFC 9111 §4.1)

  @Test func `of several variants a request selects the matching one`() throws {
    let variants = try ["en", "de", "fr"].map {
      try stored("Vary: Accept-Language | X: \($0)", to: "Accept-Language: \($0)")
    }

    #expect(variants.selected(by: get("accept-language: de"))?.headers["X"] == "de")
    let other = try #require(variants.selected(by: get("Accept-Language: it")))
    #expect(!other.variant.isSelected(by: get("Accept-Language: it")))
  }

  @Test func `of several matching variants the latest by its date is selected`() throws {
    let older = try stored("Date: @-9 | Vary: A | X: older", to: "B: 1", at: 5)
    let newer = try stored("Date: @-3 | Vary: B | X: newer", to: "B: 1", at: 0)

    #expect([older, newer].selected(by: get("B: 1"))?.headers["X"] == "newer")
    #expect([newer, older].selected(by: get("B: 1"))?.headers["X"] == "newer")
    #expect([newer, older].selected(by: get("B: 2"))?.headers["X"] == "older")
  }

  @Test func `a variant of other credentials is never selected before one's own`() throws {
    let other = try stored("max-age=9 | X: other | Date: @9", to: "Authorization: other")
    let own = try stored("max-age=9 | X: own", to: "Authorization: own")

    #expect([other, own].selected(by: get("Authorization: own"))?.headers["X"] == "own")
  }

  @Test(arguments: [(1_200, HTTPCacheReason.fresh), (1_500, .fresh), (1_501, .olderThanAccepted)])
  func `a get of a limited age is answered up to just that age`(
    milliseconds: Int, reason: HTTPCacheReason
  ) throws {
    let url = try #require(URL(string: "http://a"))
    let get = HTTPRequest(url: url).forLookup(
      Lookup(freshness: .atMost(.milliseconds(1_500))))
    let arrival = CachingRow.time(0).microseconds

    let decision = HTTPCacheRules.standard.decision(
      for: ParsedRequest(get), stored: try stored("max-age=600"),
      at: WallTime(microseconds: arrival + Int64(milliseconds) * 1_000))

    #expect(decision.reason == reason)
  }

  @Test func `credentials beside the fields keep responses apart too`() throws {
    let response = HTTPHead(status: 200, headers: ["Cache-Control": "max-age=60"])
    let parsed = ["a", "b"].map {
      ParsedRequest(method: "GET", headers: [:], credentials: ["X-Token": $0])
    }
    let stored = try #require(
      StoredResponse(
        response, to: parsed[0], requestTime: CachingRow.time(0), responseTime: CachingRow.time(0)))

    let decisions = parsed.map {
      HTTPCacheRules.standard.decision(for: $0, stored: stored, at: CachingRow.time(1)).reason
    }

    #expect(decisions == [.fresh, .otherCredentials])
  }

  // MARK: Ranges (RFC 9110 §14)

  @Test(arguments: [
    ("bytes=0-9", StoredResponse.Part.bytes(0..<10)), ("bytes=90-", .bytes(90..<100)),
    ("bytes=-10", .bytes(90..<100)), ("bytes=-999", .bytes(0..<100)),
    ("bytes=99-999", .bytes(99..<100)), ("bytes=0-9223372036854775807", .bytes(0..<100)),
    ("bytes=100-", .none), ("bytes=-0", .none), ("bytes=9223372036854775807-", .none),
  ])
  func `a range is cut out of the whole`(range: String, part: StoredResponse.Part) throws {
    #expect(try stored("").part(for: get("Range: \(range)")) == part)
  }

  @Test func `a range of an empty body does not exist`() {
    #expect(StoredResponse.Part("bytes=0-", of: 0) == StoredResponse.Part.none)
    #expect(StoredResponse.Part("bytes=-5", of: 0) == StoredResponse.Part.none)
  }

  @Test(arguments: [
    ("ETag: \"a\"", "\"a\"", StoredResponse.Part.bytes(0..<10)),
    ("ETag: \"a\"", "\"b\"", .whole), ("ETag: W/\"a\"", "W/\"a\"", .whole),
    ("ETag: W/\"a\"", "\"a\"", .whole), ("", "\"a\"", .whole),
    ("Date: @0 | Last-Modified: @-60", "@-60", .bytes(0..<10)),
    ("Date: @0 | Last-Modified: @-59", "@-59", .whole),
    ("Date: @0 | Last-Modified: @-60", "@-61", .whole),
    ("Last-Modified: @-60", "@-60", .whole),
  ])
  func `a range is given only if its condition holds for the stored version`(
    fields: String, condition: String, part: StoredResponse.Part
  ) throws {
    let request = get("Range: bytes=0-9 | If-Range: \(condition)")

    #expect(try stored(fields).part(for: request) == part)
  }

  @Test func `the head of a range has its position and length`() throws {
    let head = try stored("Content-Length: 100 | X: 1").head(of: 10..<20)

    #expect(head.status == 206)
    #expect(head.headers.values(of: "Content-Length") == ["10"])
    #expect(head.headers["Content-Range"] == "bytes 10-19/100")
    #expect(head.headers["X"] == "1")
  }

  // MARK: Invalidation (RFC 9111 §4.4)

  @Test(arguments: [
    ("POST", 200, "", ["/a/b?c"]), ("PUT", 204, "", ["/a/b?c"]), ("DELETE", 302, "", ["/a/b?c"]),
    ("PATCH", 399, "", ["/a/b?c"]), ("FOO", 200, "", ["/a/b?c"]), ("post", 200, "", ["/a/b?c"]),
    ("POST", 400, "", []), ("POST", 500, "Location: /x", []), ("POST", 199, "", []),
    ("GET", 200, "Location: /x", []), ("HEAD", 200, "", []), ("OPTIONS", 200, "", []),
    ("TRACE", 200, "", []), ("QUERY", 200, "Location: /x", []), ("PROPFIND", 207, "", []),
    ("REPORT", 207, "", []), ("SEARCH", 207, "", []), ("PROPPATCH", 207, "", ["/a/b?c"]),
    ("POST", 201, "Location: /x | Content-Location: y", ["/a/b?c", "/x", "/a/y"]),
    ("POST", 201, "Location: http://example.org:80/x", ["/a/b?c", "/x"]),
    ("POST", 201, "Location: http://other.org/x", ["/a/b?c"]),
    ("POST", 201, "Location: https://example.org/x", ["/a/b?c"]),
    ("POST", 201, "Location: http://example.org:81/x", ["/a/b?c"]),
    ("POST", 201, "Location: http://[", ["/a/b?c"]), ("POST", 201, "Location: ", ["/a/b?c"]),
  ])
  func `an unsafe method that succeeds makes URLs of its origin invalid`(
    method: String, status: Int, fields: String, paths: [String]
  ) throws {
    let head = HTTPHead(status: status, headers: CachingRow.fields(fields))
    let request = ParsedRequest(method: method, headers: [:])

    let urls = HTTPCacheRules.standard.invalidated(by: request, try #require(Self.url), head)

    let keys = Set(urls.map(\.cacheKey))
    #expect(keys == Set(paths.map { "http://example.org\($0)" }))
  }

  @Test(arguments: [
    ("http://example.org/", "http://example.org/"), ("HTTP://Example.ORG", "http://example.org/"),
    ("http://example.org:80/a", "http://example.org/a"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("https://example.org:80/a", "https://example.org:80/a"),
    ("http://example.org/A?b=C", "http://example.org/A?b=C"),
    ("http://example.org/a#b", "http://example.org/a"),
    ("http://example.org?a", "http://example.org/?a"),
    ("http://example.org/a/", "http://example.org/a/"),
    ("http://u:p@example.org/a", "http://u:p@example.org/a"),
  ])
  func `addresses that mean the same have one key`(text: String, key: String) throws {
    #expect(try #require(URL(string: text)).cacheKey == key)
  }
}
