import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPStormTests {
  @Test func `none of 2,000 gets that are left at random moments hangs or ends twice`()
    async throws
  {
    let origin = try LoopbackServer { Storm.response(to: $0) }
    let source = HTTPSource().limited(to: 24)
    let answers = try (0..<2_000).map { number in
      (Recorder<Data>(), source.get(try origin.url(Storm.paths[number % Storm.paths.count])))
    }

    // Twenty at once, so that they are left while others are at every stage.
    await withTaskGroup(of: Void.self) { group in
      for (number, (answer, signal)) in answers.enumerated() {
        if number >= 20 { await group.next() }
        group.addTask { await Storm.run(number, answer, signal) }
      }
    }

    for (number, (answer, _)) in answers.enumerated() where number % 5 == 0 {
      try await answer.ended()
    }
    #expect(answers.allSatisfy { $0.0.violations.isEmpty })
    #expect(
      await origin.eventually { snapshot in
        snapshot.openConnections <= 6 && snapshot.exchanges.allSatisfy { $0.outcome != .pending }
      })
    #expect(try await source.get(origin.url("/plain")).value == Data([1, 2, 3]))
  }

  @Test func `after a storm nothing of it is left`() async throws {
    let origin = try LoopbackServer { Storm.response(to: $0) }
    let paths = Storm.paths
    try await {
      let source = HTTPSource().limited(to: 8)
      for number in 0..<200 {
        let answer = Recorder<Data>()
        await Storm.run(number, answer, source.get(try origin.url(paths[number % paths.count])))
        if number % 5 == 0 { try await answer.ended() }
      }
    }()

    // The session and its connections are released with the last transfer of a released source.
    #expect(await origin.eventually { $0.openConnections == 0 })
  }
}

/// Many gets, some of which are left at once, some when something arrives, some a little later.
private enum Storm {
  static let paths = ["/plain", "/redirect", "/paced", "/cut", "/refused", "/redirect", "/held"]

  @Sendable
  static func response(to request: Request) -> Response {
    switch request.path {
    case "/redirect": Response(status: 302, headers: ["Location": "/plain"])
    case "/refused": Response(status: 500, body: [1])
    case "/held": Response(body: [1]).delayed(by: .milliseconds(2))
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
