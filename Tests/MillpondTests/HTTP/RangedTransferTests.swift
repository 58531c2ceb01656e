import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct RangedTransferTests {
  private func parts(
    of origin: any HTTPTransport, from earlier: ResumePoint? = nil, size: Int = 400,
    headers: HeaderFields = [:]
  ) throws -> Signal<HTTPPart> {
    let url = try #require(URL(string: "http://a"))
    return origin.sendInRanges(
      HTTPRequest(url: url, headers: headers), from: earlier, size: size)
  }

  private func answer(
    of origin: RangingOrigin, from earlier: ResumePoint? = nil, size: Int = 400
  ) throws -> Answered {
    let recorder = try Recorder<HTTPPart>().subscribe(
      to: parts(of: origin, from: earlier, size: size))
    #expect(recorder.violations.isEmpty)
    return Answered(recorder)
  }

  /// The assembled answer.
  private struct Answered {
    var heads: [HTTPHead] = []
    var body = Data()
    let end: String?

    init(_ recorder: Recorder<HTTPPart>) {
      for part in recorder.values {
        switch part {
        case .head(let head): heads.append(head)
        case .body(let bytes): body += bytes
        }
      }
      end = recorder.isCompleted ? "completed" : recorder.failureInWords
    }
  }

  private static let half = ResumePoint(
    version: ResourceVersion(condition: "\"1\"", validator: .init(entityTag: "\"1\"")),
    byteCount: 500)

  @Test func `a body in ranges arrives like one in a single answer`() throws {
    let origin = RangingOrigin()

    let answer = try answer(of: origin)

    #expect(origin.ranges == ["bytes=0-399", "bytes=400-799", "bytes=800-999"])
    #expect(origin.conditions == [nil, "\"1\"", "\"1\""])
    #expect(answer.heads.map(\.status) == [200])
    #expect(answer.heads.first?.headers["Content-Length"] == "1000")
    #expect(answer.heads.first?.headers["Content-Range"] == nil)
    #expect(answer.heads.first?.headers["ETag"] == "\"1\"")
    #expect(answer.body == origin.body)
    #expect(answer.end == "completed")
  }

  @Test func `ranges are asked for unencoded, whatever else would be taken`() throws {
    let origin = RangingOrigin()

    try parts(of: origin, headers: ["accept-encoding": "br", "X-Key": "1"]).subscribe()

    #expect(origin.values(of: "Accept-Encoding") == [["identity"], ["identity"], ["identity"]])
    #expect(origin.values(of: "X-Key") == [["1"], ["1"], ["1"]])
  }

  @Test(arguments: [999, 1_000, 1_001, 5_000])
  func `a body that fits into one range, or nearly`(size: Int) throws {
    let origin = RangingOrigin()

    #expect(try answer(of: origin, size: size).body == origin.body)

    #expect(origin.ranges.count == (size < 1_000 ? 2 : 1))
  }

  @Test func `a range is asked for when the one before has been taken`() throws {
    let origin = RangingOrigin()
    let log = Watched<[String]>([])
    try parts(of: origin).subscribe { event in
      if case .next(.body(let bytes)) = event {
        log.change { $0.append("\(bytes.count) taken, \(origin.ranges.count) asked") }
      }
    }
    #expect(log.state == ["400 taken, 1 asked", "400 taken, 2 asked", "200 taken, 3 asked"])
  }

  @Test func `many ranges that come at once need no deep stack`() throws {
    let origin = RangingOrigin(byteCount: 5_000)

    #expect(try answer(of: origin, size: 1).body == origin.body)
  }

  @Test func `the rest of what is there is asked for in ranges too`() throws {
    let origin = RangingOrigin()

    let answer = try answer(of: origin, from: Self.half)

    #expect(origin.ranges == ["bytes=500-899", "bytes=900-999"])
    #expect(origin.conditions == ["\"1\"", "\"1\""])
    #expect(answer.heads.map(\.status) == [206])
    #expect(answer.heads.first?.headers["Content-Range"] == "bytes 500-999/1000")
    #expect(answer.heads.first?.headers["Content-Length"] == "500")
    #expect(answer.body == origin.body.dropFirst(500))
  }

  @Test func `an origin that knows no ranges sends the whole`() throws {
    let origin = RangingOrigin { answer, _ in
      .init(headers: ["ETag": "\"1\""], body: answer.body)
    }

    let answer = try answer(of: origin)

    #expect(answer.heads.map(\.status) == [200])
    #expect(answer.body.count == 400)
    #expect(origin.ranges.count == 1)
  }

  @Test(arguments: [nil, "W/\"1\""])
  func `without a strong tag the whole is requested`(tag: String?) throws {
    let origin = RangingOrigin { answer, _ in
      var answer = answer
      answer.headers.set(tag, for: "ETag")
      return answer
    }

    let answer = try answer(of: origin)

    #expect(origin.ranges == ["bytes=0-399", nil])
    #expect(answer.heads.map(\.status) == [200])
    #expect(answer.body == origin.body)
    #expect(answer.end == "completed")
  }

  @Test func `without one, what fits into a range needs none`() throws {
    let origin = RangingOrigin { answer, _ in
      var answer = answer
      answer.headers.set(nil, for: "ETag")
      return answer
    }

    #expect(try answer(of: origin, size: 1_000).body == origin.body)

    #expect(origin.ranges == ["bytes=0-999"])
  }

  @Test(arguments: [
    "bytes 0-399/*", "bytes 1-399/1000", "bytes 0-400/1000", "bytes 0-399/399", "bytes 9-0/-1",
    "bytes", "bytes 0-99999999999999999999/1000", "",
  ])
  func `an answer that is not the first range has the whole requested`(range: String) throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      if number == 1 { answer.headers.set(range, for: "Content-Range") }
      return answer
    }

    #expect(try answer(of: origin).body == origin.body)

    #expect(origin.ranges == ["bytes=0-399", nil])
  }

  @Test func `an origin of an empty body that has no range of it is asked for the whole`() throws {
    let origin = RangingOrigin(byteCount: 0)

    let answer = try answer(of: origin)

    #expect(origin.ranges == ["bytes=0-399", nil])
    #expect(answer.heads.map(\.status) == [200])
    #expect(answer.body.isEmpty)
    #expect(answer.end == "completed")
  }

  @Test(arguments: [206, 416])
  func `a rest that does not fit is passed on as it is`(status: Int) throws {
    let origin = RangingOrigin { _, _ in
      .init(status: status, headers: ["Content-Range": "bytes 5-9/10"], body: Data([1]))
    }

    let answer = try answer(of: origin, from: Self.half)

    #expect(answer.heads.map(\.status) == [status])
    #expect(origin.ranges.count == 1)
  }

  @Test(arguments: [401, 403, 404, 410])
  func `a refusal ends it, and nothing more is asked for`(status: Int) throws {
    let origin = RangingOrigin { answer, number in
      number == 2 ? .init(status: status, body: Data([1])) : answer
    }

    let answer = try answer(of: origin)

    #expect(answer.end == "status \(status)")
    #expect(answer.body == origin.body.prefix(400))
    #expect(origin.ranges.count == 2)
  }

  @Test(arguments: [200, 416])
  func `an answer that can't be resumed is lost`(status: Int) throws {
    let origin = RangingOrigin { answer, number in
      number == 2 ? .init(status: status, body: Data([1])) : answer
    }

    let answer = try answer(of: origin)

    #expect(answer.end == "LostResumePoint()")
    #expect(answer.body == origin.body.prefix(400))
    #expect(origin.ranges.count == 2)
  }

  @Test(arguments: [
    ("ETag", "\"2\""), ("Content-Range", "bytes 400-799/1001"), ("Content-Encoding", "gzip"),
    ("Content-Range", "bytes 401-799/1000"),
  ])
  func `a range of something else is lost`(name: String, value: String) throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      if number == 2 { answer.headers.set(value, for: name) }
      return answer
    }

    #expect(try answer(of: origin).end == "LostResumePoint()")
  }

  @Test(arguments: [429, 500, 503])
  func `an origin that is in trouble says when it can be asked for the rest`(status: Int) throws {
    let origin = RangingOrigin { answer, number in
      number == 2 ? .init(status: status, headers: ["Retry-After": "7"]) : answer
    }

    let failure = try Recorder<HTTPPart>().subscribe(to: parts(of: origin)).failure

    #expect((failure as? TransferError)?.retryDelay == .seconds(7))
    #expect(failure?.isTransient == true && failure?.leavesRest == true)
  }

  @Test func `a range that breaks off ends it as it ended`() throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      if number == 2 { answer.end = .failed(URLError(.networkConnectionLost)) }
      return answer
    }

    #expect(try answer(of: origin).end == "URLError -1005")
  }

  @Test func `a range with too few bytes is the last one`() throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      if number == 2 { answer.body = answer.body.prefix(10) }
      return answer
    }

    let answer = try answer(of: origin)

    #expect(answer.body == origin.body.prefix(410))
    #expect(origin.ranges.count == 2)
  }

  @Test(arguments: [nil, "chunked"])
  func `a transfer that ends before its last range is incomplete`(encoding: String?) throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      answer.headers.set(encoding, for: "Transfer-Encoding")
      if encoding != nil { answer.headers.set(nil, for: "Content-Length") }
      if number == 3 { answer.body = answer.body.prefix(10) }
      return answer
    }

    let answer = try Recorder<FileStreamPart>().subscribe(to: parts(of: origin).pieces(.standard))

    #expect(answer.failureInWords == "810 of 1000")
    #expect(answer.progress.allSatisfy { $0.total == 1_000 })
  }

  @Test func `a range with too many bytes is a failure`() throws {
    let origin = RangingOrigin { answer, number in
      var answer = answer
      if number == 2 { answer.body += [1] }
      return answer
    }

    let answer = try answer(of: origin)

    #expect(answer.end == "invalid")
    #expect(answer.body == origin.body.prefix(400))
  }

  @Test func `a range that is shorter than requested is followed by another one`() throws {
    let origin = RangingOrigin { answer, number in
      guard number == 2 else { return answer }
      var answer = answer
      answer.headers.set("bytes 400-499/1000", for: "Content-Range")
      answer.body = answer.body.prefix(100)
      return answer
    }

    #expect(try answer(of: origin).body == origin.body)

    #expect(origin.ranges.last == "bytes=900-999")
  }

  @Test func `no more pieces are requested for a caller that leaves`() throws {
    let origin = RangingOrigin()

    let first = try Recorder<HTTPPart>().subscribe(to: parts(of: origin).take(2))

    #expect(first.isCompleted)
    #expect(origin.ranges.count == 1)
  }
}
