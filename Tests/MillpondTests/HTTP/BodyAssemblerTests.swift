import Foundation
import Testing

@testable import Millpond

@Suite struct BodyAssemblerTests {
  private func received(
    _ parts: [HTTPPart], byteLimit: Int = 100
  ) throws -> Stamped<Data> {
    var assembler = BodyAssembler(HTTPLimits(byteLimit: byteLimit))
    for part in parts { _ = try assembler.received(part) }
    return try assembler.finished().body
  }

  private func head(_ headers: HeaderFields = [:], status: Int = 200) -> HTTPPart {
    .head(HTTPHead(status: status, headers: headers))
  }

  private func body(_ count: Int) -> HTTPPart {
    .body(Data(repeating: 1, count: count))
  }

  @Test func `the pieces make one body`() throws {
    #expect(try received([head(), body(1), body(2)]).value == Data(repeating: 1, count: 3))
  }

  @Test func `progress begins with the head`() throws {
    var assembler = BodyAssembler(.standard)

    let first = try assembler.received(head(["Content-Length": "2"]))
    let second = try assembler.received(body(1))

    #expect(first == .init(completed: 0, total: 2))
    #expect(second == .init(completed: 1, total: 2))
  }

  @Test func `nothing is reserved for a claim that is over the limit`() {
    #expect(throws: TransferError.self) {
      try received([head(["Content-Length": "9223372036854775807"])], byteLimit: .max - 1)
    }
  }

  @Test func `a huge claim is no huge allocation`() throws {
    var assembler = BodyAssembler(HTTPLimits(byteLimit: .max))

    _ = try assembler.received(head(["Content-Length": "9223372036854775807"]))
    _ = try assembler.received(body(1))

    #expect(throws: TransferError.self) { try assembler.finished() }
  }

  @Test func `one byte over the limit is too many`() throws {
    #expect(throws: Never.self) { try received([head(), body(2), body(1)], byteLimit: 3) }
    #expect(throws: TransferError.self) { try received([head(), body(2), body(2)], byteLimit: 3) }
  }

  @Test func `fewer or more bytes than declared are no answer`() {
    #expect(throws: TransferError.self) { try received([head(["Content-Length": "2"]), body(1)]) }
    #expect(throws: TransferError.self) { try received([head(["Content-Length": "2"]), body(3)]) }
  }

  @Test func `an encoded answer without any bytes fails`() {
    #expect(throws: TransferError.self) { try received([head(["Content-Encoding": "gzip"])]) }
  }

  @Test(arguments: [0, 199, 206, 300, 304, 404, 999])
  func `a status that is not 2xx is no answer`(status: Int) {
    #expect(throws: TransferError.self) { try received([head(status: status), body(1)]) }
  }

  @Test func `informational heads are skipped`() throws {
    #expect(try received([head(status: 100), head(status: 103), head(), body(1)]).value.count == 1)
    #expect(throws: TransferError.self) { try received([head(status: 103)]) }
  }

  @Test func `a transport that sends out of order is detected`() {
    #expect(throws: TransferError.self) { try received([]) }
    #expect(throws: TransferError.self) { try received([body(1)]) }
    #expect(throws: TransferError.self) { try received([head(), head()]) }
  }

  @Test func `a validator is there if either field is`() throws {
    #expect(try received([head(["ETag": "\"1\""])]).validator?.entityTag == "\"1\"")
    #expect(try received([head(["Last-Modified": "x"])]).validator?.lastModified == "x")
    #expect(try received([head()]).validator == nil)
  }
}
