import LocalRedis
import Testing

@testable import MillpondRedis

@Suite struct RedisConnectionDriverTests {
  @Test func `when one address of a host refuses, the next one is tried at once`() throws {
    let server = try ScriptedServer { _, _ in "+OK\r\n" }
    let ports = [try LocalRedis.freePort(), server.port]
    let settings = RedisSettings(
      address: .tcp(host: "two.addresses", port: server.port), database: 0, connections: 1,
      tracking: .off, limits: ConnectionLimits(deadline: .max / 2, heartbeat: .max / 2))
    let wake = try RedisWakePipe()
    let connection = RedisConnection(0, settings.limits, wake)
    var driver = RedisConnectionDriver(
      connection, settings, RedisTracker(.off, connections: 1), wake)
    // As when the name has been looked up.
    driver.attempt = RedisConnectionDriver.Attempt(deadline: .max, isLookingUp: true)
    connection.withState { state in
      state.pipeline.beginConnecting()
      state.addresses = ports.flatMap {
        SocketAddress.addresses(of: "127.0.0.1", port: $0, isNumeric: true)
      }
    }

    var space = [UInt8](repeating: 0, count: 100)
    var phase = RedisPipeline.Phase.connecting
    while phase == .connecting || phase == .greeting(1) || phase == .greeting(2) {
      _ = driver.tend(at: SocketCalls.now())
      var watches = [driver.watch]
      SocketCalls.wait(for: &watches, atMost: nil)
      _ = driver.act(on: watches[0], &space)
      phase = connection.withState { $0.pipeline.phase }
    }

    #expect(phase == .ready)
  }
}
