import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondRedis

/// Fills of gets that have seen what the key has.
@Suite(.timeLimit(.minutes(1))) struct FillRoundTripTests {
  private let origin = TestSource<Data>()

  private var fetched: FunctionSource<String, Data> {
    FunctionSource.signal { [origin] _ in origin.signal }
  }

  /// What stands around the cache.
  enum Composition: CaseIterable {
    case alone, belowMemory, withMemory, decoded
  }

  private func layered(
    _ shared: RedisCache, _ composition: Composition
  ) -> AnyCache<String, Data> {
    let memory = MemoryCache<String, Data>(countLimit: 10)
    return switch composition {
    case .alone: AnyCache(shared.layered(over: fetched))
    case .belowMemory:
      AnyCache(memory.following(shared).layered(over: shared.layered(over: fetched)))
    case .withMemory:
      AnyCache(memory.following(shared).layered(over: shared).layered(over: fetched))
    case .decoded:
      AnyCache(
        shared.mapValues(
          Codec {
            $0
          } decode: {
            $0
          }
        ).layered(over: fetched))
    }
  }

  @Test(arguments: Composition.allCases)
  func `a miss that is filled costs two commands`(composition: Composition) async throws {
    let commands = Locked<[String]>([])
    let server = try ScriptedServer { _, command in
      commands.withLock { $0.append(command.joined(separator: " ")) }
      return command.first == "GET" ? "_\r\n" : "+OK\r\n"
    }
    let shared = RedisCache(try server.client(), prefix: "p:", form: .plain)
    try await shared.flush().value
    let count = commands.withLock { $0.count }
    let reader = Recorder<Data>()

    reader.subscribe(to: layered(shared, composition).get("k"))
    try await origin.subscriptions(count: 1)
    origin.next(Data("v".utf8))
    try await shared.flush().value

    let sent = Array(commands.withLock { $0 }[count...])
    #expect(sent == ["GET p:k", "SET p:k v NX", "PING"])
  }
}

/// The same with a real server.
@Suite(.withServer, .timeLimit(.minutes(1))) struct FillRoundTripServerTests {
  private let scene: RedisScene
  private let origin = TestSource<Data>()

  init() throws { scene = try RedisScene() }

  private var fetched: FunctionSource<String, Data> {
    FunctionSource.signal { [origin] _ in origin.signal }
  }

  /// The form and what the key has; nil for nothing.
  @Test(arguments: [RedisForm.stamped, .plain], [nil, 3, 1_000])
  func `a value is stored over what the get has seen, and nothing is asked again`(
    form: RedisForm, size: Int?
  ) async throws {
    let shared = try scene.cache("p/", form: form)
    try await shared.tracks()
    if let size { try await shared.set(Data(count: size), for: "k").value }
    let reader = Recorder<Data>()
    let tooOld = Freshness.atMost(.nanoseconds(-1))
    reader.subscribe(to: shared.layered(over: fetched).get("k", freshness: tooOld))
    try await origin.subscriptions(count: 1)
    try scene.server.command("CONFIG", "RESETSTAT")

    origin.next(Data([2]))
    try await shared.flush().value

    let calls = try scene.server.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
      .filter { $0.contains("cmdstat_eval:") }
    #expect(calls.count == (size == nil ? 0 : 1))
    #expect(!calls.contains { !$0.contains("calls=1,") })
    #expect(try await shared.found("k") == Data([2]))
  }

  /// The server carries out both in one turn, after which it reports neither to the other.
  @Test(arguments: [RedisTracking.byPrefix, .byKey, .off], [true, false])
  func `a fetched value does not win over a write that the server carries out just before`(
    tracking: RedisTracking, isRemoval: Bool
  ) async throws {
    let shared = try scene.cache("p/", tracking: tracking)
    let other = try scene.cache("p/")
    try await other.flush().value
    if tracking != .off { try await shared.tracks() }
    for number in 0..<10 {
      let (key, reader) = ("k\(number)", Recorder<Data>())
      reader.subscribe(to: shared.layered(over: fetched).get(key))
      try await origin.subscriptions(count: number + 1)

      scene.server.pause()
      let write = isRemoval ? other.remove(key) : other.set(Data([2]), for: key)
      origin.next(Data([1]))
      scene.server.resume()
      try await write.value
      try await shared.flush().value

      #expect(try await other.found(key) == (isRemoval ? nil : Data([2])))
      reader.dispose()
    }
  }

  /// What the get has seen is not what the first value has left.
  @Test func `the second value of a fetch is stored over the first one`() async throws {
    let shared = try scene.cache("p/")
    try await shared.tracks()
    let reader = Recorder<Data>()
    reader.subscribe(to: shared.layered(over: fetched).get("k"))
    try await origin.subscriptions(count: 1)

    for byte in 1...2 {
      origin.next(Data([UInt8(byte)]))
      try await shared.flush().value
    }

    #expect(try await shared.found("k") == Data([2]))
  }

  @Test func `a flush waits for all steps of what was written before`() async throws {
    let shared = try scene.cache("p/", connections: 2)
    try await shared.tracks()
    for number in 0..<3_000 { shared.set(Data([1]), for: "\(number)") }

    _ = shared.removeAll()
    try await shared.flush().value
    #expect(try scene.server.command("KEYS", "*") == "")
    for number in 0..<20 {
      _ = shared.apply(.fill("k", Stamped(Data([UInt8(number)])), FillToken(isReload: true)))
    }
    try await shared.flush().value

    #expect(try scene.server.command("KEYS", "*") == "p/k")
    #expect(try await shared.found("k") == Data([19]))
  }
}
