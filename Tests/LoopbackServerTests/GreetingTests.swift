import LoopbackServer
import TestTraits
import Testing

@Suite struct GreetingTests {
  @Test func `a greeting goes to every connection, before any request`() throws {
    let origin = try LoopbackServer(greeting: [.text("hello"), .close])
    let client = try Client(port: origin.port)

    let (text, end) = client.readToEnd()

    #expect(text == "hello")
    #expect(end == .orderly)
    #expect(origin.exchanges.isEmpty)
  }

  @Test func `after a greeting the client's bytes are no request`() throws {
    let origin = try LoopbackServer(greeting: [.text("hello")])
    let client = try Client(port: origin.port)

    client.get("/")
    #expect(client.read(5) == "hello")
    client.hangUp()

    #expect(origin.wait { $0.openConnections == 0 })
    #expect(origin.exchanges.isEmpty)
  }
}
