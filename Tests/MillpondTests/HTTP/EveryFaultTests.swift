import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct EveryFaultTests {
  /// A short timeout for silence only: another fault that ended by a timeout would count as
  /// hanging.
  private func limits(_ fault: Fault) -> HTTPLimits {
    HTTPLimits(
      idleTimeout: fault == .silence ? .milliseconds(50) : .seconds(60), byteLimit: 1_000)
  }

  /// Makes a get, and waits for its end.
  private func failure(
    of cache: some Source<URL, Data>, _ url: URL
  ) async throws -> Recorder<Data> {
    let answer = Recorder<Data>().subscribe(to: cache.get(url))
    try await answer.ended()
    return answer
  }

  @Test(arguments: Fault.allCases)
  func `every fault ends a get with one failure, and stores nothing`(fault: Fault) async throws {
    let origin = try fault.origin()
    let url = try #require(fault.url(at: origin))
    let cache = MemoryCache<URL, Data>(countLimit: 10)
      .layered(over: HTTPSource(limits: limits(fault))).reusingInFlight()
    let answers = (0..<3).map { _ in Recorder<Data>().subscribe(to: cache.get(url)) }

    for answer in answers { try await answer.ended() }

    for answer in answers {
      #expect(answer.failure != nil)
      #expect(answer.values.isEmpty)
      #expect(answer.violations.isEmpty)
    }
    #expect(try await cache.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test(arguments: Fault.allCases)
  func `gets that fail in all slots free them`(fault: Fault) async throws {
    let good = try LoopbackServer { _ in Response(body: [1]) }
    let origin = try fault.origin()
    let url = try #require(fault.url(at: origin))
    let source = HTTPSource(limits: limits(fault))
      .switched(to: HTTPSource(), when: { $0.path() == "/good" }).limited(to: 2)
    let answers = (0..<6).map { _ in Recorder<Data>().subscribe(to: source.get(url)) }
    let last = Recorder<Data>().subscribe(to: source.get(try good.url("/good")))

    try await last.ended()

    #expect(last.values == [Data([1])])
    for answer in answers { try await answer.ended() }
    #expect(answers.allSatisfy { $0.failure != nil })
  }

  @Test(arguments: Fault.allCases)
  func `a fault that is tried again ends after the last attempt`(fault: Fault) async throws {
    let origin = try fault.origin()
    let url = try #require(fault.url(at: origin))
    let source = HTTPSource(limits: limits(fault))
      .retrying(
        .backoff(attempts: 3, from: .milliseconds(1), upTo: .milliseconds(2)).onlyTransient)

    let answer = try await failure(of: source, url)

    #expect(answer.failure != nil)
    #expect(answer.violations.isEmpty)
  }
}
