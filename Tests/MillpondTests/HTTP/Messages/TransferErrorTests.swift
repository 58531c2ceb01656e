import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct TransferErrorTests {
  private func words(_ error: TransferError) -> String {
    (error as any Error).localizedDescription
  }

  @Test func `a failure names its URL without user, password, fragment and values of the query`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(status: 404) }
    let address = "http://me:word@127.0.0.1:\(origin.port)/a/b?token=s3&secret&page=2#part"
    let url = try #require(URL(string: address))

    let answer = try await Recorder.outcome(of: HTTPSource(), url)

    let expected = "http://127.0.0.1:\(origin.port)/a/b?token=&page="
    guard case .status(404, _, let named) = answer.failure as? TransferError else {
      Issue.record("\(answer.transcript)")
      return
    }
    #expect(named?.absoluteString == expected)
    #expect(
      answer.failure?.localizedDescription == "the origin answered with status 404: \(expected)")
  }

  @Test func `a timeout names its URL and the limit`() async throws {
    let transport = TestTransport()
    let clock = ManualClock()
    let source = HTTPSource(transport: transport, clock: clock)
    let url = try #require(URL(string: "http://a/b"))
    let answer = Recorder<Data>().subscribe(to: source.get(url))

    clock.advance(by: .seconds(60))

    try await answer.ended()
    let text = answer.failure?.localizedDescription ?? ""
    #expect(text.contains("idleTimeout of HTTPLimits): http://a/b"))
  }

  @Test(arguments: [
    "ftp://me:word@a/b?c=d", "//me:word@a", "ftp://a/b?word", "x://a/?c=word;d=word",
  ])
  func `a URL that is none of HTTP's is named without secrets too`(address: String) throws {
    let url = try #require(URL(string: address))

    #expect(!words(.unsupportedURL(url)).contains("word"))
  }

  @Test func `every failure that is a limit names it`() {
    #expect(words(.tooLarge(limit: 7)).contains("7 bytes (raise byteLimit"))
    #expect(words(.headTooLarge(limit: 7)).contains("7 bytes (raise headerByteLimit"))
    #expect(words(.timedOut(.total)).contains("totalTimeout"))
  }

  @Test func `the errors of the other modules are localized too`() {
    let late = SignalError.timedOut(after: .zero)
    #expect((late as any Error).localizedDescription == "\(late)")
    #expect((CacheError.miss as any Error).localizedDescription == "\(CacheError.miss)")
  }
}
