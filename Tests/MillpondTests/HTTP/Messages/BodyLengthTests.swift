import Testing

@testable import Millpond

@Suite struct BodyLengthTests {
  private func bodyLength(_ headers: HeaderFields, status: Int = 200) throws -> BodyLength {
    try BodyLength(HTTPHead(status: status, headers: headers))
  }

  @Test func `a length is a promise`() throws {
    #expect(try bodyLength(["content-length": "12"]) == .exactly(12))
    #expect(
      try bodyLength(["Content-Length": "12", "Content-Encoding": "identity"]) == .exactly(12))
  }

  @Test func `without a length whatever comes is right`() throws {
    #expect(try bodyLength([:]) == .untilTheEnd)
  }

  @Test func `chunked framing overrides a length`() throws {
    let headers: HeaderFields = ["Content-Length": "12", "Transfer-Encoding": "chunked"]

    #expect(try bodyLength(headers) == .untilTheEnd)
  }

  @Test func `the length of what is encoded is not that of the body`() throws {
    #expect(
      try bodyLength(["Content-Length": "12", "Content-Encoding": "GZIP"])
        == .encoded(length: 12))
  }

  @Test(arguments: [204, 205])
  func `an answer without content has no bytes`(status: Int) throws {
    #expect(try bodyLength(["Content-Encoding": "gzip"], status: status) == .exactly(0))
  }

  @Test(
    arguments: [
      "", " ", "-1", "+1", "1.0", "0x1", "12abc", "1, 1", "９", "99999999999999999999",
    ])
  func `a length that is not a number counts as absent`(value: String) {
    #expect(throws: TransferError.self) { try bodyLength(["Content-Length": value]) }
  }

  @Test func `two lengths count as absent`() {
    #expect(throws: TransferError.self) {
      try bodyLength(["Content-Length": "1", "content-length": "1"])
    }
  }
}
