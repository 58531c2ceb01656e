import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Several stored responses of one URL: other request fields, and renewed credentials.
@Suite struct HTTPCacheVariantsTests {
  /// An origin with a version for each language, of which two languages share one.
  private func scene(
    confirming tag: @escaping @Sendable (String) -> String? = {
      $0 == "en" ? "a" : $0 == "de" ? "b" : "a"
    }
  ) -> HTTPCacheScene {
    HTTPCacheScene { request, _ in
      let language = request.headers["Accept-Language"] ?? ""
      let tag = tag(language)
      let fields = "max-age=60 | Vary: Accept-Language" + (tag.map { " | ETag: \"\($0)\"" } ?? "")
      let asked = request.headers["If-None-Match"] ?? ""
      if let tag, asked.contains("\"\(tag)\"") { return .status(304, fields) }
      return .ok(fields, tag ?? "")
    }
  }

  @Test func `a request for another variant asks about all stored versions at once`() async throws {
    let scene = scene()
    #expect(try await scene.send("Accept-Language: en") == "200 a")
    #expect(try await scene.send("Accept-Language: de") == "200 b")

    #expect(try await scene.send("Accept-Language: fr") == "200 age 0 a")
    #expect(try await scene.send("Accept-Language: fr") == "200 age 0 a")
    #expect(try await scene.send("Accept-Language: de") == "200 age 0 b")
    #expect(try await scene.send("Accept-Language: en") == "200 age 0 a")

    #expect(
      scene.origin.values(of: "If-None-Match") == [nil, "\"a\"", "\"b\", \"a\""])
  }

  @Test(arguments: ["", "ETag: \"c\"", "ETag: a", "ETag: \"a\" | ETag: \"b\""])
  func `a 304 that names none of them is followed by a request without conditions`(
    named: String
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      let fields = "max-age=60 | Vary: Accept-Language"
      return request.headers["If-None-Match"] == nil
        ? .ok(
          fields + " | ETag: \"a\"", String(request.headers["Accept-Language"]?.prefix(1) ?? ""))
        : .status(304, fields + (named.isEmpty ? "" : " | " + named))
    }
    #expect(try await scene.send("Accept-Language: en") == "200 e")

    #expect(try await scene.send("Accept-Language: de") == "200 d")
    #expect(scene.origin.values(of: "If-None-Match") == [nil, "\"a\"", nil])
  }

  @Test func `a 304 of another resource, to which a redirect led, names none of them`() async throws
  {
    let scene = HTTPCacheScene { request, _ in
      let fields = "max-age=60 | Vary: Accept-Language | ETag: \"a\""
      return request.headers["If-None-Match"] == nil
        ? .ok(fields, String(request.headers["Accept-Language"]?.prefix(1) ?? ""))
        : .init(status: 304, fields: fields, redirection: Redirection())
    }
    _ = try await scene.send("Accept-Language: en")

    #expect(try await scene.send("Accept-Language: de") == "200 d")
  }

  @Test func `a response that must not be stored stays for the request that stored it`()
    async throws
  {
    let scene = HTTPCacheScene { request, _ in
      request.headers["If-None-Match"] == nil
        ? .ok("max-age=60 | Vary: Accept-Language | ETag: \"a\"")
        : .status(304, "no-store | Vary: Accept-Language | ETag: \"a\"")
    }
    _ = try await scene.send("Accept-Language: en")

    #expect(try await scene.send("Accept-Language: de") == "200 age 0 body")
    #expect(try await scene.send("Accept-Language: en") == "200 age 0 body")
    #expect(scene.origin.count == 2)
  }

  @Test func `the confirmation of one variant leaves the others as they are`() async throws {
    let scene = scene()
    _ = try await scene.send("Accept-Language: en")
    _ = try await scene.send("Accept-Language: de")
    scene.at(60)

    #expect(try await scene.send("Accept-Language: en") == "200 age 0 a")

    #expect(
      try await scene.send("Accept-Language: de | only-if-cached, max-stale") == "200 age 60 b")
    #expect(try await scene.send("Accept-Language: en") == "200 age 0 a")
  }

  @Test func `the confirmation of one variant leaves another with the same body as it is`()
    async throws
  {
    let scene = scene()
    _ = try await scene.send("Accept-Language: en")
    _ = try await scene.send("Accept-Language: fr")
    scene.at(60)

    #expect(try await scene.send("Accept-Language: fr") == "200 age 0 a")

    #expect(
      try await scene.send("Accept-Language: en | only-if-cached, max-stale") == "200 age 60 a")
    #expect(try await scene.send("Accept-Language: fr | only-if-cached") == "200 age 0 a")
  }

  @Test func `versions of other credentials are not asked about`() async throws {
    let scene = scene()
    _ = try await scene.send("Accept-Language: en | Authorization: one")

    _ = try await scene.send("Accept-Language: fr | Authorization: two")

    #expect(scene.origin.values(of: "If-None-Match") == [nil, nil])
  }

  @Test func `two variants that arrive together are both stored, and no body without a head`()
    throws
  {
    let (transport, store) = (ImpoliteTransport(), SlowStore())
    let cache = HTTPCache(over: transport, in: store)
    let languages = ["de", "en"]
    let ask = { (language: String, fields: String) throws in
      let request = try HTTPCacheScene.request("Accept-Language: \(language)" + fields)
      return Recorder<HTTPPart>().subscribe(to: cache.send(request))
    }
    let callers = try languages.map { try ask($0, "") }
    store.hold()
    for (number, language) in languages.enumerated() {
      transport.head(number, 200, "max-age=60 | Vary: Accept-Language | Content-Length: 2")
      transport.body(number, language)
      transport.end(number)
    }
    store.release()

    #expect(callers.map { HTTPCacheScene.text($0) } == ["200 de", "200 en"])
    let stored = try languages.map { HTTPCacheScene.text(try ask($0, " | only-if-cached")) }
    #expect(stored == ["200 age 0 de", "200 age 0 en"])
    #expect(store.base.contents.count == 3)
  }

  // MARK: Credentials

  @Test(arguments: ["Cookie", "Authorization", "Proxy-Authorization"])
  func `an answer is only for requests with the same credentials, in whatever field they are`(
    name: String
  ) async throws {
    let scene = HTTPCacheScene { request, _ in .ok("max-age=60", request.headers[name] ?? "") }

    #expect(try await scene.send("\(name): al") == "200 a l")
    #expect(try await scene.send("\(name): bo") == "200 b o")
    #expect(try await scene.send("\(name): al") == "200 age 0 al")
    #expect(try await scene.send("only-if-cached") == "504")
  }

  @Test func `a private answer is only for requests that are alike in what may tell the user`()
    async throws
  {
    let scene = HTTPCacheScene { request, _ in
      // Its tag says nothing about the user.
      request.headers["If-None-Match"] == nil
        ? .ok("private, max-age=60 | ETag: \"1\"", request.headers["X-Api-Key"] ?? "no")
        : .status(304, "private, max-age=60 | ETag: \"1\"")
    }

    #expect(try await scene.send("X-Api-Key: al") == "200 a l")
    #expect(try await scene.send("X-Api-Key: bo") == "200 b o")
    #expect(try await scene.send() == "200 n o")
    #expect(try await scene.send("X-Api-Key: al | X-Request-Id: 7") == "200 age 0 al")
    scene.at(60)
    #expect(try await scene.send("X-Api-Key: bo") == "200 age 0 bo")
    #expect(try await scene.send("X-Api-Key: al") == "200 age 0 al")
  }

  @Test func `a stored private answer is found by its user after a restart`() async throws {
    let fields = "private, max-age=60"
    let request = ParsedRequest(method: "GET", headers: ["X-Api-Key": "al"])
    let stored = try #require(
      StoredResponse(
        HTTPHead(status: 200, headers: CachingRow.fields(fields)), to: request,
        requestTime: CachingRow.time(0), responseTime: CachingRow.time(0)))
    let codec = Codec.httpRecords

    let bytes = try await codec.encode(HTTPCacheRecord(.heads([stored])))
    let record = try await codec.decode(bytes)

    #expect(record.heads?.map { $0.matches(request) } == [true])
    let other = ParsedRequest(method: "GET", headers: ["X-Api-Key": "bo"])
    #expect(record.heads?.map { $0.matches(other) } == [false])
  }

  private func ask(
    _ cache: HTTPCache, token: String, account: String?, path: String = "/a"
  ) async throws -> String {
    let request = try HTTPCacheScene.request(path: path)
      .authorized(by: ["Authorization": token], account: account)
    return try await HTTPCacheScene.answer(cache.send(request))
  }

  @Test func `a renewed credential of an account finds what is stored for it`() async throws {
    let scene = HTTPCacheScene { request, number in .ok("max-age=60", "\(number)") }

    #expect(try await ask(scene.cache, token: "1", account: "ann") == "200 1")
    #expect(try await ask(scene.cache, token: "2", account: "ann") == "200 age 0 1")
    #expect(try await ask(scene.cache, token: "2", account: "bob") == "200 2")
    #expect(try await ask(scene.cache, token: "2", account: nil) == "200 3")
    #expect(try await ask(scene.cache, token: "3", account: nil) == "200 4")
  }

  @Test(arguments: [401, 407])
  func `a refusal of credentials is no answer to the next ones of the account`(
    status: Int
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .status(status, "max-age=60") : .ok("max-age=60", "\(number)")
    }

    #expect(try await ask(scene.cache, token: "1", account: "ann") == "\(status)")
    #expect(try await ask(scene.cache, token: "2", account: "ann") == "200 2")
  }

  @Test func `a response that varies by the credential is only for that one`() async throws {
    let scene = HTTPCacheScene { _, number in
      .ok("max-age=60 | Vary: Authorization", "\(number)")
    }

    #expect(try await ask(scene.cache, token: "1", account: "ann") == "200 1")
    #expect(try await ask(scene.cache, token: "1", account: "ann") == "200 age 0 1")
    #expect(try await ask(scene.cache, token: "2", account: "ann") == "200 2")
  }

  @Test func `an authorization names its account`() async throws {
    let scene = HTTPCacheScene { request, number in
      request.credentials["Authorization"] == "old" && number > 1
        ? .status(401) : .ok("max-age=\(number == 1 ? 0 : 60)", "\(number)")
    }
    let url = try #require(URL(string: "http://origin.test/a"))
    let authorization = HTTPAuthorization(for: url, account: "ann") { refused in
      ["Authorization": refused == nil ? "old" : "new"]
    }
    let source = HTTPSource(transport: scene.cache, authorization: authorization)

    #expect(try await source.get(url).value == Data("1".utf8))
    #expect(try await source.get(url).value == Data("3".utf8))
    #expect(try await source.get(url).value == Data("3".utf8))
    #expect(scene.origin.count == 3)
    let plain = HTTPCacheScene.request
    #expect(try await HTTPCacheScene.answer(scene.cache.send(plain("", "/a"))) == "200 4")
  }
}
