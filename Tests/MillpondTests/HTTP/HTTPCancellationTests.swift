import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPCancellationTests {
  @Test func `disposal before the head closes the connection`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let answer = Recorder<Data>().subscribe(to: HTTPSource().get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    answer.dispose()

    #expect(await origin.wasClosedByClient())
    #expect(await origin.eventually { $0.openConnections == 0 })
    #expect(answer.events.isEmpty)
  }

  @Test func `disposal inside the head closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      .scripted([.text("HTTP/1.1 200 OK\r\nContent-"), .hold(ResponseHold())])
    }
    let answer = Recorder<Data>().subscribe(to: HTTPSource().get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    answer.dispose()

    #expect(await origin.wasClosedByClient())
    #expect(answer.events.isEmpty)
  }

  @Test func `disposal in the body closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: ResponseHold(), afterBodyBytes: 4)
    }
    let answer = Recorder<Data>()
    answer.subscribe(to: HTTPSource().get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 4 { answer.dispose() }
    }

    #expect(
      await origin.eventually {
        $0.exchanges.first?.outcome == .clientClosed(bodyBytesSent: 4) && $0.openConnections == 0
      })
    #expect(answer.values.isEmpty)
    #expect(answer.end == nil)
  }

  @Test func `disposal while other requests hold all connections lets the next one through`()
    async throws
  {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      request.path == "/held" ? Response().held(by: hold) : Response(body: [1])
    }
    let source = HTTPSource(transport: URLSessionTransport(connectionsPerHost: 1))
    let held = Recorder<Data>().subscribe(to: source.get(try origin.url("/held")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })
    let queued = Recorder<Data>().subscribe(to: source.get(try origin.url("/queued")))
    let next = Recorder<Data>().subscribe(to: source.get(try origin.url("/next")))

    queued.dispose()
    held.dispose()

    try await next.ended()
    #expect(next.values == [Data([1])])
    #expect(origin.requestCount(path: "/queued") == 0)
  }

  @Test func `disposal before the subscription returns sends nothing`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let source = HTTPSource()
    let answer = Recorder<Data>()
    answer.dispose()

    answer.subscribe(to: source.get(try origin.url("/")))
    try await Recorder.outcome(of: source, origin.url("/other"))

    #expect(answer.events.isEmpty)
  }

  @Test func `cancelling the task that waits closes the connection`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let url = try origin.url("/")
    let task = Task { try await HTTPSource().get(url).value }
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await origin.wasClosedByClient())
  }

  @Test func `a transfer goes on after its source is released`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response(body: [1]).held(by: hold) }
    let answer = Recorder<Data>().subscribe(to: HTTPSource().get(try origin.url("/")))

    #expect(await origin.eventually { $0.exchanges.count == 1 })
    hold.release()

    try await answer.ended()
    #expect(answer.values == [Data([1])])
  }

  @Test func `the connection is closed after the source is released`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }

    try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test func `twenty threads that dispose of one get tear it down once`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let source = HTTPSource()

    for _ in 0..<20 {
      let subscription = source.get(try origin.url("/")).subscribe()
      await withTaskGroup { group in
        for _ in 0..<20 { group.addTask { subscription.dispose() } }
      }
    }

    #expect(await origin.eventually { $0.openConnections == 0 })
  }
}
