import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPCancellationTests {
  @Test func `N22 disposal before the head closes the connection`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: Hold()) }
    let answer = Recorder<Data>().subscribe(to: HTTPSource().get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    answer.dispose()

    #expect(await origin.wasClosedByClient())
    #expect(await origin.eventually { $0.openConnections == 0 })
    #expect(answer.events.isEmpty)
  }

  @Test func `N22 disposal inside the head closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      .scripted([.text("HTTP/1.1 200 OK\r\nContent-"), .hold(Hold())])
    }
    let answer = Recorder<Data>().subscribe(to: HTTPSource().get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    answer.dispose()

    #expect(await origin.wasClosedByClient())
    #expect(answer.events.isEmpty)
  }

  @Test func `N22 disposal in the body closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: Hold(), afterBodyBytes: 4)
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

  @Test func `N22 disposal while others hold all connections lets the next one through`()
    async throws
  {
    let hold = Hold()
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
    let origin = try LoopbackServer { _ in Response().held(by: Hold()) }
    let url = try origin.url("/")
    let task = Task { try await HTTPSource().get(url).value }
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await origin.wasClosedByClient())
  }

  @Test func `a transfer goes on after its source is released`() async throws {
    let hold = Hold()
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
    let origin = try LoopbackServer { _ in Response().held(by: Hold()) }
    let source = HTTPSource()

    for _ in 0..<20 {
      let subscription = source.get(try origin.url("/")).subscribe()
      await withTaskGroup { group in
        for _ in 0..<20 { group.addTask { subscription.dispose() } }
      }
    }

    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test func `N25 of 500 gets disposed of at any moment none hangs and none ends twice`()
    async throws
  {
    let origin = try LoopbackServer { Storm.response(to: $0) }
    let source = HTTPSource()
    let paths = ["/plain", "/redirect", "/paced", "/redirect", "/cut", "/redirect"]
    let urls = try paths.map { try origin.url($0) }
    let answers = (0..<500).map { _ in Recorder<Data>() }

    await withTaskGroup { group in
      for (number, answer) in answers.enumerated() {
        group.addTask { await Storm.run(number, answer, source.get(urls[number % 6])) }
      }
    }

    for (number, answer) in answers.enumerated() where number % 5 == 0 { try await answer.ended() }
    #expect(answers.allSatisfy { $0.violations.isEmpty })
    #expect(
      await origin.eventually { snapshot in
        snapshot.openConnections <= 6 && snapshot.exchanges.allSatisfy { $0.outcome != .pending }
      })
    #expect(try await source.get(origin.url("/plain")).value == Data([1, 2, 3]))
  }
}

/// Many gets, some of which are left at once, some when something arrives, some a little later.
private enum Storm {
  @Sendable
  static func response(to request: Request) -> Response {
    switch request.path {
    case "/redirect": Response(status: 302, headers: ["Location": "/plain"])
    case "/paced":
      Response(body: Array(repeating: 1, count: 2_000)).paced(bytesPerSecond: 200_000)
    case "/cut":
      .scripted([.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123"), .close])
    default: Response(body: [1, 2, 3])
    }
  }

  static func run(_ number: Int, _ answer: Recorder<Data>, _ signal: Signal<Data>) async {
    answer.subscribe(to: signal) { _ in if number % 5 == 1 { answer.dispose() } }
    guard number % 5 >= 2 else { return }
    for _ in 0..<[0, number % 20, number % 100][number % 5 - 2] { await Task.yield() }
    answer.dispose()
  }
}
