import LoopbackServer
import TestTraits
import Testing

@Suite struct ClosedPortTests {
  @Test func `a connection is refused`() throws {
    let closed = try ClosedPort()

    #expect(throws: (any Error).self) { try Client(port: closed.port) }
    #expect(closed.baseURL == "http://127.0.0.1:\(closed.port)")
  }
}
