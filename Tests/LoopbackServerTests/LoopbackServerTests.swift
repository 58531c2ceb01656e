import LoopbackServer
import Synchronization
import TestTraits
import Testing

@Suite struct LoopbackServerTests {
  @Test func `the handler sees the request and its answer arrives`() throws {
    let origin = try LoopbackServer { request in
      let text = "\(request.method) \(request.path) \(request.headers["x-a"] ?? "-")"
      return Response(status: 201, headers: ["X-B": "b"], body: Array(text.utf8) + request.body)
    }
    let client = try Client(port: origin.port)

    client.write("PUT /a?b=c HTTP/1.1\r\nX-A: 7\r\nContent-Length: 4\r\n\r\nbody")

    let reply = client.readReply()
    #expect(reply.status == 201)
    #expect(reply.headers.contains("X-B: b"))
    #expect(reply.body == "PUT /a?b=c 7body")
  }

  @Test func `the base URL names the port`() throws {
    let origin = try LoopbackServer { _ in Response() }

    #expect(origin.port != 0)
    #expect(origin.baseURL == "http://127.0.0.1:\(origin.port)")
  }

  @Test func `stop ends a held response as stopped and closes its connection`() throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response().held(by: hold) }
    let client = try Client(port: origin.port)
    client.get("/")
    #expect(origin.wait { $0.exchanges.count == 1 })

    origin.stop()

    #expect(origin.exchanges.map(\.outcome) == [.stopped])
    #expect(origin.openConnections == 0)
    #expect(client.readToEnd().end == .orderly)
  }

  @Test func `stop closes an idle connection`() throws {
    let origin = try LoopbackServer { _ in Response() }
    let client = try Client(port: origin.port)
    client.get("/")
    _ = client.readReply()

    origin.stop()

    #expect(origin.openConnections == 0)
    #expect(client.readToEnd().end == .orderly)
  }

  @Test func `after a stop no connection is accepted, and a second stop does nothing`() throws {
    let origin = try LoopbackServer { _ in Response() }

    origin.stop()
    origin.stop()

    #expect(throws: Client.Refused.self) { try Client(port: origin.port) }
  }

  @Test func `a released server is stopped`() throws {
    var origin: LoopbackServer? = try LoopbackServer { _ in Response() }
    let port = try #require(origin?.port)
    let client = try Client(port: port)

    origin = nil

    #expect(client.readToEnd().end != nil)
    #expect(throws: Client.Refused.self) { try Client(port: port) }
  }

  @Test func `a handler may stop its own server`() throws {
    let own = Mutex<LoopbackServer?>(nil)
    let origin = try LoopbackServer { _ in
      own.withLock { $0 }?.stop()
      return Response()
    }
    own.withLock { $0 = origin }
    let client = try Client(port: origin.port)

    client.get("/")

    #expect(client.readToEnd().end != nil)
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.stopped] })
    own.withLock { $0 = nil }
  }

  @Test func `after stop no socket or pipe is left open`() async {
    await #expect(processExitsWith: .success) {
      let before = openSocketAndPipeCount()
      let hold = ResponseHold()
      let origin = try LoopbackServer {
        $0.path == "/held" ? Response().held(by: hold) : Response()
      }
      let clients = try ["/held", "/", "/held", "/"].map { path in
        let client = try Client(port: origin.port)
        client.get(path)
        return client
      }
      let count = clients.count
      #expect(await origin.eventually { $0.exchanges.count == count })

      origin.stop()
      for client in clients { client.hangUp() }

      #expect(openSocketAndPipeCount() == before)
    }
  }
}
