import LoopbackServer
import TestTraits
import Testing

@Suite struct ConnectionTests {
  @Test func `a connection serves many requests`() throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let client = try Client(port: origin.port)

    for path in ["/1", "/2", "/3"] {
      client.get(path)
      #expect(client.readReply().body == path)
    }

    #expect(origin.openConnections == 1)
  }

  @Test func `requests sent ahead are answered in order`() throws {
    let origin = try LoopbackServer(latency: .milliseconds(5)) {
      Response(body: Array($0.path.utf8))
    }
    let client = try Client(port: origin.port)

    for path in ["/1", "/2", "/3"] { client.get(path) }

    #expect((1...3).map { _ in client.readReply().body } == ["/1", "/2", "/3"])
  }

  @Test(arguments: ["HTTP/1.1\r\nConnection: close", "HTTP/1.0"])
  func `a client that wants one answer gets one and an orderly end`(version: String) throws {
    let origin = try LoopbackServer { _ in Response(body: Array("all".utf8)) }
    let client = try Client(port: origin.port)

    client.write("GET / \(version)\r\n\r\n")

    #expect(client.readReply().body == "all")
    let rest = client.readToEnd()
    #expect(rest.text.isEmpty && rest.end == .orderly)
  }

  @Test func `HEAD gets the length and no body`() throws {
    let origin = try LoopbackServer { _ in Response(body: Array("12345".utf8)) }
    let client = try Client(port: origin.port)

    client.write("HEAD / HTTP/1.1\r\n\r\n")
    let reply = client.readReply(toHead: true)
    client.get("/")

    #expect(reply.headers.contains("Content-Length: 5"))
    #expect(client.readReply().body == "12345")
  }

  @Test func `a large body arrives whole`() throws {
    let body = String(repeating: "0123456789abcdef", count: 1 << 17)
    let origin = try LoopbackServer { _ in Response(body: Array(body.utf8)) }
    let client = try Client(port: origin.port)

    client.write("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")

    #expect(client.readReply().body == body)
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] })
  }

  @Test func `a client that expects to be asked for its body is asked`() throws {
    let origin = try LoopbackServer { Response(body: $0.body) }
    let client = try Client(port: origin.port)

    client.write("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(client.readHead() == ["HTTP/1.1 100 Continue"])
    client.write("ok")

    #expect(client.readReply().body == "ok")
  }

  @Test func `a body in chunks arrives as one, and the connection goes on`() throws {
    let origin = try LoopbackServer { Response(body: $0.body) }
    let client = try Client(port: origin.port)

    client.write("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n")
    client.write("a\r\n0123456789\r\n0\r\nX-A: b\r\n\r\n")
    #expect(client.readReply().body == "abc0123456789")

    client.write("PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n")
    #expect(client.readReply().body == "")
  }

  @Test(arguments: [
    ("nonsense\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
    (
      "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"
        + String(repeating: "a", count: 500_000), 413
    ),
    ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 70_000), 431),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 413),
  ])
  func `a request that can't be read is refused and the connection closed`(
    text: String, status: Int
  ) throws {
    let origin = try LoopbackServer { _ in Response() }
    let client = try Client(port: origin.port)

    client.write(text)

    #expect(client.readReply().status == status)
    #expect(client.readToEnd().end == .orderly)
    client.hangUp()
    #expect(origin.wait { $0.openConnections == 0 && $0.exchanges.isEmpty })
  }

  @Test func `a client that leaves between requests is no exchange`() throws {
    let origin = try LoopbackServer { _ in Response() }
    let client = try Client(port: origin.port)
    client.get("/")
    _ = client.readReply()

    client.hangUp()

    #expect(origin.wait { $0.openConnections == 0 })
    #expect(origin.exchanges.map(\.outcome) == [.served])
  }

  @Test func `a client that leaves while a large body is sent is noticed`() throws {
    let body = [UInt8](repeating: 7, count: 64 << 20)
    let origin = try LoopbackServer { _ in Response(body: body) }
    let client = try Client(port: origin.port)
    client.get("/")
    _ = client.read(1_000)

    client.hangUp()

    #expect(origin.wait { $0.exchanges.contains { $0.closedEarly(of: body.count) } })
  }
}

extension Exchange {
  func closedEarly(of byteCount: Int) -> Bool {
    guard case .clientClosed(let sent) = outcome else { return false }
    return sent < byteCount
  }
}
