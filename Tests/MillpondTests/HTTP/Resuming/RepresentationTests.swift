import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Resumptions, by requests that would have got the same bytes.
@Suite struct RepresentationTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  /// Asks once with each of these fields, of which the first answer breaks off.
  private func get(
    _ fields: [HeaderFields], identity: String? = nil, _ lookup: Lookup = Lookup()
  ) async throws -> RangingOrigin {
    defer { try? FileManager.default.removeItem(at: folder) }
    let origin = RangingOrigin(byteCount: 100_000) { answer, number in
      guard number == 1 else { return answer }
      var answer = answer
      answer.body = answer.body.prefix(60_000)
      answer.end = .failed(URLError(.networkConnectionLost))
      return answer
    }
    let url = try #require(URL(string: "http://a/film"))
    let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(4))
    try await partials.flush().value
    let source = HTTPSource(transport: origin, resuming: partials) { (number: Int) in
      HTTPRequest(url: url, headers: fields[number], identity: identity)
    }
    for number in fields.indices {
      try await Recorder<Data>().subscribe(to: source.get(number, lookup)).ended()
    }
    return origin
  }

  @Test(arguments: [nil, "film"])
  func `bytes of one language are not continued in another`(identity: String?) async throws {
    let origin = try await get(
      [["Accept-Language": "de"], ["Accept-Language": "en"]], identity: identity)

    #expect(origin.ranges == [nil, nil])
  }

  @Test func `bytes of one user are not continued for another`() throws {
    let url = try #require(URL(string: "http://a/film"))
    let requests = [
      HTTPRequest(url: url), HTTPRequest(url: url, credentials: ["Authorization": "a"]),
      HTTPRequest(url: url, credentials: ["Authorization": "b"]),
      HTTPRequest(url: url, headers: ["Cookie": "a"]),
    ]

    #expect(Set(requests.map(\.representation)).count == 4)
  }

  @Test func `the same fields in another order and spelling ask for the same bytes`() async throws {
    let origin = try await get([
      ["Accept-Language": "de", "Accept": "video/mp4"],
      ["accept": "video/mp4", "accept-language": "de"],
    ])

    #expect(origin.ranges == [nil, "bytes=60000-"])
  }

  @Test func `a transfer that a reload broke off is resumed`() async throws {
    let origin = try await get(
      [["Accept": "video/mp4"], ["Accept": "video/mp4"]], Lookup(freshness: .reload))

    #expect(origin.ranges == [nil, "bytes=60000-"])
  }

  @Test func `fields of the request that ask for the rest are sent once`() async throws {
    let fields: HeaderFields = ["accept-encoding": "gzip", "if-range": "\"0\""]

    let origin = try await get([fields, fields])

    #expect(origin.ranges == [nil, "bytes=60000-"])
    #expect(origin.values(of: "Accept-Encoding") == [["gzip"], ["identity"]])
    #expect(origin.values(of: "If-Range") == [["\"0\""], ["\"1\""]])
  }

  @Test func `a request for a range of its own is sent as it is`() async throws {
    let origin = try await get([[:], ["Range": "bytes=7-"], [:]])

    #expect(origin.values(of: "Range") == [[], ["bytes=7-"], ["bytes=60000-"]])
  }
}
