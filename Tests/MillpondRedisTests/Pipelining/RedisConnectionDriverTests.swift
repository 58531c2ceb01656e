import LocalRedis
import Testing
import MillpondSockets

@testable import MillpondRedis

@Suite struct RedisConnectionDriverTests {
  @Test func `when one address of a host refuses, the next one is tried at once`() throws {
    let server = try ScriptedServer { _, _ in "+OK\r\n" }
    let ports = [try LocalRedis.freePort(), server.port]
    let settings = RedisSettings(
      address: .tcp(host: "two.addresses", port: server.port), database: 0, connections: 1,
      tracking: .off, limits: ConnectionLimits(deadline: .max / 2, heartbeat: .max / 2))
    let wake = try WakePipe()
    let connection = RedisConnection(0, settings.limits, wake, to: settings.address)
    var driver = RedisConnectionDriver(
      connection.nodes[0], settings, RedisTracker(.off, [connection]), wake)
    // As when the name has been looked up.
    driver.attempt = RedisConnectionDriver.Attempt(deadline: .max, isLookingUp: true)
    connection.nodes[0].withState { state in
      state.pipeline.beginConnecting()
      let addresses = ports.flatMap { SocketAddress.addresses(of: "127.0.0.1", port: $0) }
      state.places = .success(
        ServerPlaces(server: .tcp(host: "two.addresses"), places: addresses.map { .socket($0) }))
    }

    var space = [UInt8](repeating: 0, count: 100)
    var phase = RedisPipeline.Phase.connecting
    while phase == .connecting || phase == .greeting {
      _ = driver.tend(at: SocketCalls.now())
      var watches = [driver.watch]
      SocketCalls.wait(for: &watches, atMost: nil)
      _ = driver.act(on: watches[0], &space)
      phase = connection.nodes[0].withState { $0.pipeline.phase }
    }

    #expect(phase == .ready)
  }

  /// A driver whose host has been looked up.
  private func driver() throws -> (driver: RedisConnectionDriver, connection: RedisConnection) {
    let settings = RedisSettings(
      address: .tcp(host: "two.addresses", port: 1), database: 0, connections: 1, tracking: .off,
      limits: ConnectionLimits(deadline: 1_000, heartbeat: 1_000, firstPause: 10))
    let wake = try WakePipe()
    let connection = RedisConnection(0, settings.limits, wake, to: settings.address)
    let driver = RedisConnectionDriver(
      connection.nodes[0], settings, RedisTracker(.off, [connection]), wake)
    connection.nodes[0].withState { state in
      // As if an earlier look-up went on, so that none is begun.
      state.isLookingUp = true
      state.pipeline.beginConnecting()
    }
    return (driver, connection)
  }

  private func found(_ ports: [UInt16], by connection: RedisConnection) {
    connection.nodes[0].withState { state in
      let addresses = ports.flatMap { SocketAddress.addresses(of: "127.0.0.1", port: $0) }
      state.places = .success(
        ServerPlaces(server: .tcp(host: "two.addresses"), places: addresses.map { .socket($0) }))
    }
  }

  @Test func `each address of a host has its share of the time`() throws {
    let (silent, last) = (try ScriptedServer { _, _ in "" }, try ScriptedServer { _, _ in "" })
    let ports = [silent.port, silent.port, silent.port, last.port]
    var (driver, connection) = try driver()
    #expect(driver.tend(at: 0) == 1_000)
    #expect(driver.link == nil)
    found(ports, by: connection)

    // Nothing is looked at in between, as if no address answered.
    #expect(driver.tend(at: 200) == 400)
    let first = driver.link
    #expect(driver.tend(at: 399) == 400)
    #expect(driver.link === first)
    #expect(driver.tend(at: 400) == 600)
    #expect(driver.link !== first)
    #expect(driver.tend(at: 700) == 850)
    #expect(driver.tend(at: 850) == 1_000)
    #expect(connection.nodes[0].withState { $0.pipeline.phase } == .connecting)
    _ = driver.tend(at: 1_000)
    #expect(connection.nodes[0].withState { $0.pipeline.phase } != .connecting)
  }

  @Test func `after an address that does not answer, the next attempt begins with another`()
    throws
  {
    let (silent, next) = (try ScriptedServer { _, _ in "" }, try ScriptedServer { _, _ in "" })
    let ports = [silent.port, next.port]
    var (driver, connection) = try driver()
    var space = [UInt8](repeating: 0, count: 100)
    for (attempt, time) in [Int64(0), 2_000, 4_000].enumerated() {
      _ = driver.tend(at: time)
      found(ports, by: connection)
      _ = driver.tend(at: time)
      var watches = [driver.watch]
      SocketCalls.wait(for: &watches, atMost: nil)
      _ = driver.act(on: watches[0], &space)
      #expect(driver.attempt?.isConnected == true)
      // The answer to the greeting does not come.
      _ = driver.tend(at: time + 1_000)
      #expect(driver.attempt == nil)
      while silent.connections + next.connections < attempt + 1 {}
    }

    #expect(silent.connections == 2)
    #expect(next.connections == 1)
  }

  @Test func `an attempt waits for the look-up of an earlier one`() throws {
    var (driver, connection) = try driver()
    _ = driver.tend(at: 0)
    _ = driver.tend(at: 1_000)
    #expect(driver.attempt == nil)
    _ = driver.tend(at: 2_000)
    #expect(driver.attempt?.isLookingUp == true)
    let server = try ScriptedServer { _, _ in "" }

    found([server.port], by: connection)
    _ = driver.tend(at: 2_001)

    #expect(driver.link != nil)
  }
}
