import LoopbackServer
import TestTraits
import Testing

@Suite struct ObservingTests {
  @Test func `requests are recorded in order with their headers`() throws {
    let origin = try LoopbackServer { _ in Response() }
    let client = try Client(port: origin.port)
    client.write("GET /1 HTTP/1.1\r\nIf-None-Match: \"7\"\r\n\r\n")
    _ = client.readReply()
    client.get("/2?a")
    _ = client.readReply()

    #expect(origin.exchanges.map(\.request.path) == ["/1", "/2?a"])
    #expect(origin.exchanges.first?.request.headers["if-none-match"] == "\"7\"")
    #expect(origin.requestCount(path: "/2?a") == 1)
    #expect(origin.requestCount(path: "/2") == 0)
  }

  @Test func `the bytes of bodies are counted, those of heads are not`() throws {
    let origin = try LoopbackServer { _ in Response(body: [1, 2, 3]) }
    let client = try Client(port: origin.port)

    for _ in 0..<2 {
      client.get("/")
      _ = client.readReply()
    }

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served, .served] })
    #expect(origin.bytesSent == 6)
  }

  @Test func `waiting for what doesn't come ends at the timeout`() throws {
    let origin = try LoopbackServer { _ in Response() }

    #expect(!origin.wait(timeout: .milliseconds(20)) { $0.openConnections == 1 })
  }

  @Test func `a condition may ask the origin itself`() throws {
    let origin = try LoopbackServer { _ in Response() }

    #expect(origin.wait { $0.openConnections == origin.openConnections })
  }

  @Test func `eventually resumes when it has happened`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    async let isOpen = origin.eventually { $0.openConnections == 1 }

    let client = try Client(port: origin.port)

    #expect(await isOpen)
    client.hangUp()
    #expect(await origin.eventually { $0.openConnections == 0 })
    #expect(await !origin.eventually(timeout: .milliseconds(20)) { $0.openConnections == 1 })
  }

  @Test func `an exchange that is forgotten midway doesn't come back`() throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer {
      $0.path == "/held" ? Response().held(by: hold) : Response()
    }
    let client = try Client(port: origin.port)
    client.get("/held")
    #expect(origin.wait { $0.exchanges.count == 1 })

    origin.forgetExchanges()
    hold.release()
    _ = client.readReply()
    client.get("/next")
    _ = client.readReply()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] })
    #expect(origin.exchanges.map(\.request.path) == ["/next"])
  }
}
