import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Tests that a rest is joined to the first bytes only if its origin says that they are the same.
@Suite struct ResumeVersionTests {
  /// The statements of two answers about their bytes.
  struct Answers: Sendable, CustomTestStringConvertible {
    let first: HeaderFields
    let rest: HeaderFields

    init(_ first: HeaderFields, then rest: HeaderFields) {
      (self.first, self.rest) = (first, rest)
    }

    var testDescription: String {
      "\(first.fields.map(\.value)) then \(rest.fields.map(\.value))"
    }
  }

  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let otherDate = "Mon, 07 Nov 1994 08:49:37 GMT"
  private static let later = "Tue, 08 Nov 1994 08:49:37 GMT"
  private static let dated: HeaderFields = ["Last-Modified": date, "Date": later]

  static let same: [Answers] = [
    Answers(["ETag": "\"1\""], then: ["ETag": "\"1\""]),
    Answers(["ETag": "\"1\"", "Last-Modified": date], then: ["ETag": "\"1\""]),
    Answers(dated, then: ["Last-Modified": date]),
  ]

  static let doubtful: [Answers] = [
    Answers(["ETag": "\"1\""], then: [:]),
    Answers(["ETag": "\"1\""], then: ["ETag": "W/\"1\""]),
    Answers(["ETag": "\"\u{E9}\""], then: ["ETag": "\"e\u{301}\""]),
    Answers(["ETag": "\"1\"", "Last-Modified": date], then: ["Last-Modified": date]),
    Answers(dated, then: ["Last-Modified": otherDate]),
    Answers(dated, then: [:]),
    Answers(dated, then: ["Last-Modified": date, "ETag": "\"1\""]),
    Answers(["ETag": "\"1\""], then: ["ETag": "\"1\"", "X-Total": "1000001"]),
    Answers(dated, then: ["Last-Modified": date, "X-Total": "1000001"]),
  ]

  static let unusable: [Answers] = [
    Answers(["ETag": "W/\"1\"", "Last-Modified": date, "Date": later], then: [:]),
    Answers(["ETag": "\""], then: [:]),
    Answers(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], then: [:]),
    Answers(["Last-Modified": date, "Date": later, "Transfer-Encoding": "chunked"], then: [:]),
  ]

  private static let new = Data(repeating: 7, count: 1_000_000)
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  /// Returns an origin that breaks off at first, and then serves another transfer.
  ///
  /// - Parameter isNew: Whether the later answers have other bytes.
  private func origin(_ answers: Answers, isNew: Bool) -> RangingOrigin {
    RangingOrigin(byteCount: 1_000_000) { answer, number in
      var answer = answer
      answer.headers.set(nil, for: "ETag")
      let added = number == 1 ? answers.first : answers.rest
      for field in added.fields { answer.headers.set(field.value, for: field.name) }
      if let total = added["X-Total"], let range = answer.headers["Content-Range"] {
        answer.headers.set("\(range.prefix { $0 != "/" })/\(total)", for: "Content-Range")
      }
      if number == 1 {
        answer.body = answer.body.prefix(600_000)
        answer.end = .failed(URLError(.networkConnectionLost))
      } else if isNew {
        answer.body = Data(repeating: 7, count: answer.body.count)
      }
      return answer
    }
  }

  /// Asks for a body twice.
  private func twoGets(_ origin: RangingOrigin) async throws -> Data {
    defer { try? FileManager.default.removeItem(at: folder) }
    let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(4))
    let source = HTTPSource(transport: origin, resuming: partials)
    let url = try #require(URL(string: "http://a/film"))
    try await partials.flush().value
    try await Recorder.outcome(of: source, url)
    return try await source.get(url).value
  }

  /// Asks for a file twice.
  private func twoFiles(_ origin: RangingOrigin) async throws -> Data {
    defer { try? FileManager.default.removeItem(at: folder) }
    let partials = PartialTransfers(
      directory: folder.appendingPathComponent("partials"), byteLimit: .mebibytes(4))
    let disk = DiskCache(
      directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(16))
    let media = MediaCache(
      disk, over: HTTPSource(transport: origin, resuming: partials), limitedTo: 2,
      name: \.absoluteString)
    let url = try #require(URL(string: "http://a/film"))
    try await partials.flush().value
    try await Recorder<DiskFile>().subscribe(to: media.get(url)).ended()
    return try await Data(contentsOf: media.get(url).value.url)
  }

  @Test(arguments: same)
  func `parts with the same strong validator are combined`(answers: Answers) async throws {
    let origin = origin(answers, isNew: false)

    #expect(try await twoGets(origin) == origin.body)

    #expect(origin.ranges == [nil, "bytes=600000-"])
  }

  @Test(arguments: same)
  func `a file that shares a strong validator is put together`(answers: Answers) async throws {
    let origin = origin(answers, isNew: false)

    #expect(try await twoFiles(origin) == origin.body)

    #expect(origin.ranges == [nil, "bytes=524288-"])
  }

  @Test(arguments: doubtful)
  func `a rest that may be of another version has all asked for`(answers: Answers) async throws {
    let origin = origin(answers, isNew: true)

    #expect(try await twoGets(origin) == Self.new)

    #expect(origin.ranges == [nil, "bytes=600000-", nil])
  }

  @Test(arguments: doubtful)
  func `of a file, a rest that may be of another version has all asked for`(
    answers: Answers
  ) async throws {
    let origin = origin(answers, isNew: true)

    #expect(try await twoFiles(origin) == Self.new)

    #expect(origin.ranges == [nil, "bytes=524288-", nil])
  }

  @Test(arguments: unusable)
  func `without a validator that may be sent no rest is asked for`(answers: Answers) async throws {
    let origin = origin(answers, isNew: true)

    #expect(try await twoGets(origin) == Self.new)

    #expect(origin.ranges == [nil, nil])
  }

  @Test(arguments: doubtful)
  func `a range that may be of another version is not resumed`(answers: Answers) throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      answer.headers.set(nil, for: "ETag")
      let added = number == 1 ? answers.first : answers.rest
      for field in added.fields { answer.headers.set(field.value, for: field.name) }
      if added["X-Total"] != nil { answer.headers.set("bytes 400-799/1001", for: "Content-Range") }
      return answer
    }
    let url = try #require(URL(string: "http://a"))

    let parts = Recorder<HTTPPart>().subscribe(
      to: origin.sendInRanges(
        HTTPRequest(url: url), size: 400))

    #expect(parts.failure is LostResumePoint)
    #expect(origin.ranges == ["bytes=0-399", "bytes=400-799"])
  }
}
