import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPBodyTests {
  struct Trouble: Error {}

  private func bytes(of body: HTTPBody) async throws -> Data {
    let recorder = Recorder<Data>().subscribe(to: body.pieces)
    if case .failed(let error) = try await recorder.ended() { throw error }
    return recorder.values.reduce(into: Data()) { $0 += $1 }
  }

  @Test(
    arguments: [
      (["a": "b"], "a=b"), (["a b": "c+d&e=f"], "a+b=c%2Bd%26e%3Df"),
      (["é": "\r\n~*-._"], "%C3%A9=%0D%0A%7E*-._"), (["a": "1", "a": "2"], "a=1&a=2"), ([:], ""),
    ] as [(KeyValuePairs<String, String>, String)])
  func `a form is encoded as by a browser`(fields: KeyValuePairs<String, String>, text: String)
    async throws
  {
    let body = HTTPBody.form(fields)

    #expect(try await bytes(of: body) == Data(text.utf8))
    #expect(body.contentType == "application/x-www-form-urlencoded")
  }

  @Test func `JSON has its media type, and an encoder's error is thrown`() async throws {
    #expect(try await bytes(of: .json([1, 2])) == Data("[1,2]".utf8))
    #expect(try HTTPBody.json([1]).contentType == "application/json")
    #expect(throws: EncodingError.self) { try HTTPBody.json(Double.infinity) }
  }

  @Test func `a file is read in pieces, and its length is known`() async throws {
    let file = try TemporaryFile(Data(repeating: 7, count: 600_000))
    let body = HTTPBody.file(file.url)

    let recorder = Recorder<Data>().subscribe(to: body.pieces)
    try await recorder.ended()

    #expect(recorder.values.map(\.count) == [262_144, 262_144, 75_712])
    #expect(body.length == 600_000)
  }

  @Test func `an empty file is an empty body`() async throws {
    let file = try TemporaryFile(Data())

    #expect(try await bytes(of: .file(file.url)).isEmpty)
  }

  @Test func `a file that does not exist, and a folder, fail and have no length`() async throws {
    for url in [URL(filePath: "/nowhere/a"), URL(filePath: "/tmp"), URL(filePath: "/dev/zero")] {
      await #expect(throws: (any Error).self) { try await bytes(of: .file(url)) }
      #expect(HTTPBody.file(url).length == nil)
    }
  }

  @Test(arguments: [0, 2, 4])
  func `a stream of another length than stated fails`(stated: Int) async throws {
    let body = HTTPBody.stream(.of(Data([1]), Data([2, 3])), length: stated)

    await #expect(throws: TransferError.self) { try await bytes(of: body) }
  }

  @Test func `a stream of the stated length is sent`() async throws {
    let body = HTTPBody.stream(.of(Data([1]), Data([2, 3])), length: 3)

    #expect(try await bytes(of: body) == Data([1, 2, 3]))
    #expect(try await bytes(of: body) == Data([1, 2, 3]))
  }

  @Test func `a stream with too many bytes is left at once`() async throws {
    let source = TestSource<Data>()
    let recorder = Recorder<Data>()
      .subscribe(to: HTTPBody.stream(source.signal, length: 1).pieces)

    source.next(Data([1, 2]))

    try await recorder.ended()
    #expect(source.disposals == 1)
    #expect(recorder.values.isEmpty)
  }

  @Test func `a sequence is sent once, and says so the second time`() async throws {
    let pieces = AsyncStream<Data> { continuation in
      continuation.yield(Data([1]))
      continuation.finish()
    }
    let body = HTTPBody.stream(pieces)

    #expect(try await bytes(of: body) == Data([1]))
    let second = try await Recorder<Data>().subscribe(to: body.pieces).ended()
    #expect("\(second)".contains("sent already"))
  }

  @Test func `descriptions and dumps show no bytes`() throws {
    let body = HTTPBody.data(Data("secret".utf8), contentType: "text/plain")
    let response = HTTPResponse(
      status: 201, headers: ["Set-Cookie": "secret"], body: Data("secret".utf8))
    var dumped = ""
    dump((body, response), to: &dumped)

    #expect("\(body)" == "text/plain, 6 bytes")
    #expect("\(response)" == "status 201, 6 bytes")
    #expect(!dumped.contains("secret") && !dumped.contains("115"))
  }
}

/// A file of a test, which is removed with this object.
final class TemporaryFile: Sendable {
  let url: URL

  init(_ bytes: Data) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("body \(UUID())")
    try bytes.write(to: url)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
