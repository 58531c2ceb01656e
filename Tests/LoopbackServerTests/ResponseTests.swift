import LoopbackServer
import TestTraits
import Testing

@Suite struct ResponseTests {
  let hold = ResponseHold()

  @Test func `a response is late by the server's latency`() throws {
    let origin = try LoopbackServer(latency: .milliseconds(30)) { _ in Response() }
    let client = try Client(port: origin.port)

    let taken = ContinuousClock().measure {
      client.get("/")
      _ = client.readReply()
    }

    #expect(taken >= .milliseconds(30))
  }

  @Test func `a response's own latency and pace replace the server's`() throws {
    let origin = try LoopbackServer(latency: .seconds(3_600), bytesPerSecond: 1) { _ in
      Response(body: Array("now".utf8)).delayed(by: .zero).paced(bytesPerSecond: .max)
    }
    let client = try Client(port: origin.port)

    client.get("/")

    #expect(client.readReply().body == "now")
  }

  @Test func `a paced body takes its time and arrives whole`() throws {
    let body = String(repeating: "x", count: 4_000)
    let origin = try LoopbackServer(bytesPerSecond: 100_000) { _ in
      Response(body: Array(body.utf8))
    }
    let client = try Client(port: origin.port)

    var reply: Client.Reply?
    let taken = ContinuousClock().measure {
      client.get("/")
      reply = client.readReply()
    }

    #expect(reply?.body == body)
    #expect(taken >= .milliseconds(40))
  }

  @Test func `a held response comes when it is released`() throws {
    let origin = try LoopbackServer { [hold] _ in Response(body: Array("late".utf8)).held(by: hold)
    }
    let client = try Client(port: origin.port)
    client.get("/")
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.pending] })

    hold.release()

    #expect(client.readReply().body == "late")
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] })
  }

  @Test func `one hold holds the responses of many connections`() throws {
    let origin = try LoopbackServer { [hold] _ in Response(body: Array("all".utf8)).held(by: hold) }
    let clients = try (0..<5).map { _ in try Client(port: origin.port) }
    for client in clients { client.get("/") }
    #expect(origin.wait { $0.requestCount(path: "/") == 5 })

    hold.release()

    #expect(clients.map { $0.readReply().body } == Array(repeating: "all", count: 5))
  }

  @Test func `a response held in its body shows the bytes before the hold`() throws {
    let origin = try LoopbackServer { [hold] _ in
      Response(body: Array("headtail".utf8)).held(by: hold, afterBodyBytes: 4)
    }
    let client = try Client(port: origin.port)

    client.get("/")
    #expect(client.readHead().contains("Content-Length: 8"))
    #expect(client.read(4) == "head")
    #expect(origin.exchanges.map(\.outcome) == [.pending])
    hold.release()

    #expect(client.read(4) == "tail")
  }

  @Test func `a response can be held before its head and in its body`() throws {
    let second = ResponseHold()
    let origin = try LoopbackServer { [hold] _ in
      Response(body: Array("ab".utf8)).held(by: hold).held(by: second, afterBodyBytes: 1)
    }
    let client = try Client(port: origin.port)
    client.get("/")
    #expect(origin.wait { $0.exchanges.count == 1 })

    hold.release()
    _ = client.readHead()
    #expect(client.read(1) == "a")
    second.release()

    #expect(client.read(1) == "b")
  }

  @Test func `a stated length that is false is sent and the body then cut`() throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Length": "10"], body: Array("short".utf8))
    }
    let client = try Client(port: origin.port)

    client.get("/")

    #expect(client.readHead().contains("Content-Length: 10"))
    #expect(client.readToEnd() == ("short", .orderly))
  }

  // MARK: A client that closes

  @Test func `a closed client is noticed while the response is held`() throws {
    let origin = try LoopbackServer { [hold] _ in Response().held(by: hold) }
    let client = try Client(port: origin.port)
    client.get("/")
    #expect(origin.wait { $0.exchanges.count == 1 })

    client.hangUp()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.clientClosed(bodyBytesSent: 0)] })
    #expect(origin.wait { $0.openConnections == 0 })
  }

  @Test func `a closed client is noticed while the response is delayed`() throws {
    let origin = try LoopbackServer(latency: .seconds(3_600)) { _ in Response() }
    let client = try Client(port: origin.port)
    client.get("/")
    #expect(origin.wait { $0.exchanges.count == 1 })

    client.hangUp()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.clientClosed(bodyBytesSent: 0)] })
  }

  @Test func `a closed client is noticed while the body is paced`() throws {
    let origin = try LoopbackServer(bytesPerSecond: 1) { _ in
      Response(body: Array(repeating: 0, count: 3_600))
    }
    let client = try Client(port: origin.port)
    client.get("/")
    _ = client.readHead()

    client.hangUp()

    #expect(origin.wait { $0.exchanges.contains { $0.closedEarly(of: 3_600) } })
  }

  @Test func `a client that closes in the body is recorded with the bytes it was sent`() throws {
    let origin = try LoopbackServer { [hold] _ in
      Response(body: Array(repeating: 0, count: 5_000)).paced(bytesPerSecond: 20_000)
        .held(by: hold, afterBodyBytes: 1_000)
    }
    let client = try Client(port: origin.port)
    client.get("/")
    _ = client.readHead()
    _ = client.read(1_000)

    client.hangUp()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.clientClosed(bodyBytesSent: 1_000)] })
  }

  @Test(arguments: [100, 100_000])
  func `a client that sent much ahead and closes is noticed`(byteCount: Int) throws {
    let origin = try LoopbackServer { [hold] _ in Response().held(by: hold) }
    let client = try Client(port: origin.port)
    client.get("/")
    client.write(String(repeating: "a", count: byteCount))

    client.hangUp()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.clientClosed(bodyBytesSent: 0)] })
  }
}
