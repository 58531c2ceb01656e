import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct AssembledBodyTests {
  private func answer(_ parts: [HTTPPart], byteLimit: Int = 100) -> Recorder<WholeAnswer> {
    let source = TestSource<HTTPPart>()
    let answer = Recorder<WholeAnswer>().subscribe(
      to: source.signal.assembled(HTTPLimits(byteLimit: byteLimit)))
    for part in parts { source.next(part) }
    source.completed()
    return answer
  }

  private func received(
    _ parts: [HTTPPart], byteLimit: Int = 100
  ) throws -> Stamped<Data> {
    let answer = answer(parts, byteLimit: byteLimit)
    if let failure = answer.failure { throw failure }
    return try #require(answer.values.first).body
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

  @Test func `progress begins with the head`() {
    let answer = answer([head(["Content-Length": "2"]), body(1)])

    #expect(answer.progress == [.init(completed: 0, total: 2), .init(completed: 1, total: 2)])
  }

  @Test func `nothing is reserved for a claim that is over the limit`() {
    #expect(throws: TransferError.self) {
      try received([head(["Content-Length": "9223372036854775807"])], byteLimit: .max - 1)
    }
  }

  @Test func `a huge claim is no huge allocation`() {
    #expect(throws: TransferError.self) {
      try received([head(["Content-Length": "9223372036854775807"]), body(1)], byteLimit: .max)
    }
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

  @Test func `a transfer that can't bring a whole answer has stopped when its failure is reported`()
  {
    let source = TestSource<HTTPPart>()
    let disposals = Locked<[Int]>([])
    let lifetime = Lifetime()
    source.signal.assembled(HTTPLimits(byteLimit: 1)).run(
      Observer(next: { _ in }) { event in
        if event.isTerminal { disposals.withLock { $0.append(source.disposals) } }
      }, lifetime)

    source.next(.head(HTTPHead(status: 200)))
    source.next(.body(Data(count: 2)))

    #expect(disposals.withLock { $0 } == [1])
    lifetime.end()
  }

  @Test func `a transfer has ended when its answer is delivered`() {
    let (isOver, wasOver) = (Locked(false), Locked<[Bool]>([]))
    let transfer = Signal<HTTPPart> { observer, lifetime in
      lifetime.onEnd { isOver.withLock { $0 = true } }
      observer.next(.head(HTTPHead(status: 200)))
      observer.completed()
    }

    transfer.assembled(HTTPLimits()).subscribe(onNext: { _ in
      wasOver.withLock { $0.append(isOver.withLock { $0 }) }
    })

    #expect(wasOver.withLock { $0 } == [true])
  }
}
