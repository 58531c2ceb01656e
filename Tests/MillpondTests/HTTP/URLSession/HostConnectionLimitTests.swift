import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HostConnectionLimitTests {
  private let slots = HostConnectionLimit(2)
  private let sent = Watched<[String]>([])

  private func ask(_ url: String, _ priority: Priority = .normal) throws -> Recorder<HTTPPart> {
    let sent = sent
    let request = HTTPRequest(url: try #require(URL(string: url)), priority: priority)
    return Recorder<HTTPPart>().subscribe(
      to: slots.answer(to: request) { finished in
        sent.change { $0.append(url) }
        return Signal { _, lifetime in lifetime.onEnd(finished) }
      })
  }

  @Test func `requests to a host wait for its slots, and not for those of another host`()
    async throws
  {
    let asked = try ["http://a/1", "http://a/2", "http://a/3", "http://b/4"].map { try ask($0) }

    #expect(sent.state == ["http://a/1", "http://a/2", "http://b/4"])
    asked[0].dispose()
    try await sent.wait(for: "a slot") { $0.last == "http://a/3" }
  }

  @Test func `a request that was left keeps its slot until the session is done with it`()
    async throws
  {
    let finish = Watched<(@Sendable () -> Void)?>(nil)
    let request = HTTPRequest(url: try #require(URL(string: "http://a/left")))
    let left = Recorder<HTTPPart>().subscribe(
      to: slots.answer(to: request) { finished in
        finish.change { $0 = finished }
        return .never
      })
    let others = [try ask("http://a/1"), try ask("http://a/2")]

    left.dispose()
    #expect(sent.state == ["http://a/1"])
    finish.state?()

    try await sent.wait(for: "a slot") { $0 == ["http://a/1", "http://a/2"] }
    #expect(others.allSatisfy { $0.end == nil })
  }

  @Test func `the most urgent request that waits is sent first`() async throws {
    let first = try ask("http://a/1")
    let others = [
      try ask("http://a/2"), try ask("http://a/low", .low), try ask("http://a/high", .high),
    ]

    first.dispose()

    try await sent.wait(for: "a slot") { $0.last == "http://a/high" }
    #expect(others.allSatisfy { $0.end == nil })
  }

  @Test
  func `requests that are left while they wait are never sent, and leave nothing behind`()
    async throws
  {
    let held = [try ask("http://a/1"), try ask("http://a/2")]
    let waiting = try (0..<6_000).map { try ask("http://a/waiting/\($0)") }
    let next = try ask("http://a/next")

    for one in waiting { one.dispose() }
    held[0].dispose()

    try await sent.wait(for: "a slot") { $0 == ["http://a/1", "http://a/2", "http://a/next"] }
    next.dispose()
    held[1].dispose()
    // The thread that has sent the last one may still be about to hear that it was left.
    while slots.hostCount > 0 { await Task.yield() }
  }

  @Test func `after thousands of gets that were left unsent the next one is answered`()
    async throws
  {
    let origin = try LoopbackServer { request in
      request.path == "/next" ? Response(body: [1]) : Response().held(by: ResponseHold())
    }
    let source = HTTPSource()
    let left = try (0..<6_000).map { number in
      Recorder<Data>().subscribe(to: source.get(try origin.url("/\(number)")))
    }
    #expect(await origin.eventually { $0.exchanges.count == 6 })

    for one in left { one.dispose() }

    #expect(try await source.get(origin.url("/next")).value == Data([1]))
  }
}
