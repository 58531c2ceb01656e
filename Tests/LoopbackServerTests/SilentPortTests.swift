import LoopbackServer
import Testing

@Suite struct SilentPortTests {
  @Test func `the base URL names the port`() throws {
    let deaf = try SilentPort()

    #expect(deaf.port != 0)
    #expect(deaf.baseURL == "http://127.0.0.1:\(deaf.port)")
  }
}
