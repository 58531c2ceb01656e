import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// Disposal at every stage of a transfer, which frees the slot of `limited`.
@Suite struct HTTPSlotTests {
  private let good: LoopbackServer

  init() throws {
    good = try LoopbackServer { _ in Response(body: [1]) }
  }

  /// Whether another get has its turn after `answer` has left.
  private func slotComesFree(
    of source: some Source<URL, Data>, after answer: Recorder<Data>
  ) async throws -> Bool {
    let next = Recorder<Data>().subscribe(to: source.get(try good.url("/")))
    let wasWaiting = next.events.isEmpty
    answer.dispose()
    try await next.ended()
    return wasWaiting && next.values == [Data([1])] && answer.values.isEmpty
      && answer.end == nil
  }

  @Test func `a get disposed of while it waits for a slot never starts`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let source = HTTPSource().limited(to: 1)
    let holder = Recorder<Data>().subscribe(to: source.get(try origin.url("/held")))
    let queued = Recorder<Data>().subscribe(to: source.get(try origin.url("/queued")))
    queued.dispose()

    #expect(try await slotComesFree(of: source, after: holder))
    #expect(origin.requestCount(path: "/queued") == 0)
  }

  @Test func `a get disposed of while it waits for credentials frees its slot`() async throws {
    let isAsked = Watched(false)
    let account = HTTPAuthorization(for: try good.url("/")) { _ in
      isAsked.change { $0 = true }
      try await Task.sleep(for: .seconds(3_600))
      return [:]
    }
    let guarded = try good.url("/guarded")
    let source = HTTPSource()
      .switched(to: HTTPSource(authorization: account), when: { $0 == guarded })
      .limited(to: 1)
    let answer = Recorder<Data>().subscribe(to: source.get(guarded))
    try await isAsked.wait(for: "the question") { $0 }

    #expect(try await slotComesFree(of: source, after: answer))
  }

  @Test func `a get disposed of while it connects frees its slot`() async throws {
    let deaf = try SilentPort()
    let url = try #require(URL(string: deaf.baseURL + "/"))
    let source = HTTPSource().limited(to: 1)
    let answer = Recorder<Data>().subscribe(to: source.get(url))

    #expect(try await slotComesFree(of: source, after: answer))
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-"])
  func `a get disposed of before or inside the head frees its slot`(sent: String) async throws {
    let origin = try LoopbackServer { _ in .scripted([.text(sent), .hold(ResponseHold())]) }
    let source = HTTPSource().limited(to: 1)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    #expect(try await slotComesFree(of: source, after: answer))
    #expect(await origin.wasClosedByClient())
  }

  @Test func `a get disposed of in the body frees its slot`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: [1, 2, 3]).held(by: ResponseHold(), afterBodyBytes: 1)
    }
    let source = HTTPSource().limited(to: 1)
    let isInBody = Watched(false)
    let answer = Recorder<Data>()
    answer.subscribe(to: source.get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 1 {
        isInBody.change { $0 = true }
      }
    }
    try await isInBody.wait(for: "the body") { $0 }

    #expect(try await slotComesFree(of: source, after: answer))
    #expect(await origin.wasClosedByClient())
  }

  @Test func `a get disposed of during its decoding frees its slot`() async throws {
    let isDecoding = Watched(false)
    let source = HTTPSource().postProcessed(asynchronously: { url, data in
      guard url.path() == "/slow" else { return data }
      isDecoding.change { $0 = true }
      try await Task.sleep(for: .seconds(3_600))
      return data
    }).limited(to: 1)
    let answer = Recorder<Data>().subscribe(to: source.get(try good.url("/slow")))
    try await isDecoding.wait(for: "decoding") { $0 }

    #expect(try await slotComesFree(of: source, after: answer))
  }

  @Test func `a get disposed of while it waits for a retry frees its slot`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 503, headers: ["Retry-After": "50"]) }
    let clock = ManualClock()
    let source = HTTPSource().retrying(
      .backoff(attempts: 2, from: .seconds(1), upTo: .seconds(60)), clock: clock
    ).limited(to: 1)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    try await clock.pending(count: 1)

    #expect(try await slotComesFree(of: source, after: answer))
    #expect(clock.pendingCount == 0)
  }
}
