import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// The knowledge of whoever has the files of a cache: no secrets, no hashes of them that can be looked up,
/// and with a seal nothing of a body.
@Suite(.timeLimit(.minutes(3))) struct HashedSecretsTests {
  private let scene = DiskScene()

  // MARK: Hashes

  /// The bytes that none of the files may contain: secrets, and their hashes without a salt, in the forms in
  /// which hashes are written.
  private static let revealing: [Data] = {
    let secrets = [
      "hidden-token", "Bearer hidden-token", "authorization:Bearer hidden-token", "hidden-cookie",
      "session=hidden-cookie", "cookie:session=hidden-cookie", "hidden-password",
      "Basic YWw6aGlkZGVuLXBhc3N3b3Jk", "authorization:Basic YWw6aGlkZGVuLXBhc3N3b3Jk",
      "hidden-query", "signature=hidden-query",
    ]
    return secrets.flatMap { secret -> [Data] in
      let words = SHA256.hash(Array(secret.utf8)).prefix(2)
      let plain = UInt64(words[0]) << 32 | UInt64(words[1])
      let unsalted = Fingerprint(hiding: Array(secret.utf8), 0, []).first
      return [Data(secret.utf8)] + [plain, unsalted].flatMap { forms(of: $0) }
    }
  }()

  /// The first half of a hash, as bytes and as digits.
  private static func forms(of hash: UInt64) -> [Data] {
    [
      withUnsafeBytes(of: hash.littleEndian) { Data($0) },
      withUnsafeBytes(of: hash.bigEndian) { Data($0) }, Data(String(hash, radix: 16).utf8),
    ]
  }

  /// The bytes of all files of the scene's folder, of each its first and last ones, and their names.
  private func bytes(upTo count: Int = .max) throws -> Data {
    let names =
      FileManager.default.enumerator(atPath: scene.folder.path)?
      .compactMap { $0 as? String } ?? []
    #expect(names.count > 1)
    return names.reduce(into: Data()) { bytes, name in
      bytes += Data(name.utf8)
      let file = (try? Data(contentsOf: scene.folder.appending(path: name))) ?? Data()
      bytes += file.count > count ? file.prefix(count) + file.suffix(count) : file
    }
  }

  private func contain(_ bytes: Data, _ parts: [Data]) -> Bool {
    parts.contains { bytes.range(of: $0) != nil }
  }

  /// Requests with a secret in a field, in a cookie, in the URL's user and in its query.
  private static func requests() throws -> [HTTPRequest] {
    let film = "a.test/film?signature=hidden-query"
    return [
      HTTPRequest(
        url: try #require(URL(string: "http://\(film)")),
        credentials: ["Authorization": "Bearer hidden-token"]),
      HTTPRequest(url: try #require(URL(string: "http://al:hidden-password@\(film)"))),
      HTTPRequest(
        url: try #require(URL(string: "http://\(film)")),
        headers: ["Cookie": "session=hidden-cookie"]),
    ]
  }

  private static let key = Data("a key".utf8)

  @Test(arguments: [nil, key], [false, true])
  func `no file of an HTTP cache has a credential, or a hash of one that can be looked up`(
    key: Data?, isSealed: Bool
  ) async throws {
    let origin = ScriptedOrigin { _, number in
      .ok("private, max-age=600 | Vary: Authorization, Cookie", "answer \(number)")
    }
    let disk = scene.open(.mebibytes(4), POSIXCalls()) { options in
      if isSealed { options.form = Self.sealed }
    }
    for request in try Self.requests() {
      let cache = HTTPCache(over: origin, in: disk, hashKey: key)
      _ = try await HTTPCacheScene.answer(cache.send(request))
    }
    try await disk.flush()

    let bytes = try bytes()
    #expect(!contain(bytes, Self.revealing))
    let query = try Self.requests().map { request in
      String(Fingerprint(hiding: Array(request.url.cacheKey.utf8), 0, []).first, radix: 16)
    }
    // The hash of a whole URL is its name in the store, and can be checked without a key.
    #expect(contain(bytes, query.map { Data($0.utf8) }) == (key == nil))
    #expect(contain(bytes, [Data("answer 1".utf8)]) == !isSealed)
    for request in try Self.requests() {
      let cache = HTTPCache(over: origin, in: disk, hashKey: key)
      #expect(try await HTTPCacheScene.answer(cache.send(request)).contains("age"))
    }
    #expect(origin.count == 3)
    let other = HTTPCache(over: origin, in: disk, hashKey: Data("another key".utf8))
    _ = try await HTTPCacheScene.answer(other.send(try Self.requests()[0]))
    #expect(origin.count == 4)
    try await disk.close().value
  }

  @Test(arguments: [nil, key])
  func `no file of a download has a credential, or a hash of one that can be looked up`(
    key: Data?
  ) async throws {
    let partials = PartialTransfers(
      directory: scene.folder.appending(path: "partials"), byteLimit: .mebibytes(16),
      hashKey: key)
    let disk = DiskCache(
      directory: scene.folder.appending(path: "disk"), byteLimit: .mebibytes(16))
    let request = HTTPRequest(
      url: try #require(URL(string: "http://al:hidden-password@a/film?signature=hidden-query")),
      headers: ["Cookie": "session=hidden-cookie"])
    let transport = TestTransport()
    let source = HTTPSource<String>(transport: transport, resuming: partials) { _ in request }
    let media = MediaCache(disk, over: source, limitedTo: 1) { $0 }
    let answer = Recorder<DiskFile>().subscribe(to: media.get("film"))
    try await Self.sendHalf(by: transport)

    #expect(try journals() == 1)
    // The middle of a large file is the body as it was sent.
    let edge = 100_000
    #expect(!contain(try bytes(upTo: edge), Self.revealing), "while it arrives")
    transport.source.failed(URLError(.networkConnectionLost))
    try await answer.ended()
    try await partials.flush()
    #expect(!contain(try bytes(upTo: edge), Self.revealing), "after it broke off")

    let name = Fingerprint(hiding: Array(request.identity.utf8), 0, []).first
    #expect(contain(try bytes(upTo: edge), [Data(FileName.digits(name).utf8)]) == (key == nil))
    let place = partials.place(of: request.representation, .next())
    #expect(try await partials.find(place).value != nil)
    try await disk.close().value
  }

  private func journals() throws -> Int {
    try FileManager.default.contentsOfDirectory(
      atPath: scene.folder.appending(path: "partials").path
    ).count { $0.hasSuffix(PartialFiles.Kind.head.rawValue) }
  }

  private static let half = Data(String(repeating: "hidden body ", count: 420_000).utf8)

  /// Sends the first half of a body, which is so large that the sender waits until it is written.
  private static func sendHalf(by transport: TestTransport) async throws {
    try await transport.source.subscriptions(count: 1)
    let headers: HeaderFields = ["Content-Length": "\(2 * half.count)", "ETag": "\"1\""]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    transport.source.next(.body(half))
  }

  // MARK: Sealing

  private static let sealing = DiskSealing(
    seal: { value, _ in Data(value.reversed()) },
    open: { sealed, _ in Data(sealed.reversed()) })

  private static let sealed = DiskValueFormat(schema: .unversioned, sealing: sealing)

  @Test(arguments: [nil, sealing])
  func `of a download into a sealed cache no file has bytes, but the one that is handed out`(
    sealing: DiskSealing?
  ) async throws {
    let clear = Data("hidden body".utf8)
    let partials = PartialTransfers(
      directory: scene.folder.appending(path: "partials"), byteLimit: .mebibytes(16))
    let disk = DiskCache(
      directory: scene.folder.appending(path: "disk"), byteLimit: .mebibytes(32),
      sealing: sealing)
    for breaksOff in [true, false] {
      let transport = TestTransport()
      let media = MediaCache(
        disk, over: HTTPSource(transport: transport, resuming: partials), limitedTo: 1,
        name: \.absoluteString)
      let film = try #require(URL(string: "http://a/film \(breaksOff)"))
      var answer: Recorder<DiskFile>? = Recorder().subscribe(to: media.get(film))
      try await Self.sendHalf(by: transport)

      // As a kill would leave the files.
      #expect(contain(try bytes(), [clear]) == (sealing == nil), "while it arrives")
      if breaksOff {
        transport.source.failed(URLError(.networkConnectionLost))
        try await answer?.ended()
        try await partials.flush()
        #expect(contain(try bytes(), [clear]) == (sealing == nil), "after it broke off")
        try await partials.removeAll().value
      } else {
        transport.source.next(.body(Self.half))
        transport.source.completed()
        try await answer?.ended()
        #expect(
          try answer?.values.first.map { try Data(contentsOf: $0.url) } == Self.half + Self.half)
        answer = nil
        try await disk.flush()
        #expect(contain(try bytes(), [clear]) == (sealing == nil), "after it is released")
      }
    }
    try await disk.close().value
  }

  @Test(arguments: [nil, sealing])
  func `of an answer in a sealed HTTP cache no file has bytes, nor of one that broke off`(
    sealing: DiskSealing?
  ) async throws {
    let origin = ScriptedOrigin { request, _ in
      .init(
        fields: "max-age=60 | ETag: \"1\" | Content-Length: 200000",
        body: String(repeating: "hidden body ", count: 10_000),
        failure: URLError(.networkConnectionLost))
    }
    let disk = scene.open(.mebibytes(4), POSIXCalls()) { options in
      options.form = DiskValueFormat(schema: .unversioned, sealing: sealing)
    }
    let cache = HTTPCache(over: origin, in: disk)

    try await Recorder<HTTPPart>().subscribe(to: cache.send(try Self.requests()[0])).ended()
    // A failure is not held back until the head and the body are stored.
    while try await disk.count.value < 2 { await Task.yield() }
    try await disk.flush()

    #expect(scene.bytesOnDisk > 100_000)
    #expect(contain(try bytes(), [Data("hidden body".utf8)]) == (sealing == nil))
    try await disk.close().value
  }
}
