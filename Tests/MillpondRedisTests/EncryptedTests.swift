import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import Testing

@testable import MillpondRedis

/// Servers that take encrypted connections, with one certificate.
@Suite(.withServer, .withOpenSSL, .timeLimit(.minutes(2))) struct EncryptedTests {
  private let certificate: Certificate
  private let scene: RedisScene
  private let port: UInt16

  /// The ports that encrypted connections were made to.
  private let connected = Locked<Set<UInt16>>([])

  init() throws {
    certificate = try Certificate()
    port = try LocalRedis.freePort()
    scene = try RedisScene(certificate.options(port: port))
  }

  private func client(
    of address: RedisAddress? = nil, _ arguments: [String], name: String = "localhost"
  ) throws -> RedisCache {
    let address = address ?? .tls(host: "localhost", port: port)
    let redis = try Redis(address, deadline: .seconds(30)) { [connected] _, port in
      connected.withLock { _ = $0.insert(port) }
      return OpenSSLStream(
        ["-connect", "127.0.0.1:\(port)", "-verify_hostname", name, "-servername", name]
          + arguments)
    }
    return RedisCache(redis, prefix: "")
  }

  @Test func `values, reports and a value of many pieces pass encrypted`() async throws {
    let shared = try client(["-CAfile", certificate.path])
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(shared).layered(over: shared)
    while !shared.redis.isTracking { await Task.yield() }
    let value = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    try await cache.set(value, for: "k").value
    #expect(try await shared.get("k").value == value)
    #expect(memory.now("k", Lookup()) == value)
    try await scene.cache().set(Data([1]), for: "k").value
    while memory.now("k", Lookup()) != nil { await Task.yield() }
    #expect(try await cache.get("k").value == Data([1]))
  }

  @Test(arguments: [(false, "localhost"), (true, "another.example")])
  func `to a server whose certificate does not fit nothing is said`(
    isTrusted: Bool, name: String
  ) async throws {
    let cache = try client(isTrusted ? ["-CAfile", certificate.path] : [], name: name)

    await #expect(throws: CacheError.self) { try await cache.get("k").value }

    #expect(try scene.server.command("INFO", "commandstats").contains("cmdstat_hello") == false)
  }

  @Test func `every server of a cluster is spoken to encrypted, also when a slot has moved there`()
    async throws
  {
    let ports = try (0..<3).map { _ in try LocalRedis.freePort() }
    let cluster = try await ClusterScene(ports: ports) {
      certificate.options(port: $0) + ["--tls-cluster", "yes"]
    }
    let cache = try client(
      of: .cluster([.tls(host: "127.0.0.1", port: ports[0])]), ["-CAfile", certificate.path])
    let keys = (0..<60).map { "k\($0)" }
    for key in keys { cache.set(Data(key.utf8), for: key) }
    try await cache.flush().value
    let slot = ClusterSlot.of(RedisKey(prefix: "", key: "k1"))
    let target = (try cluster.owner(of: slot) + 1) % 3
    try await cluster.move(slot, to: target)

    for key in keys { #expect(try await cache.get(key).value == Data(key.utf8)) }
    #expect(try await cache.values(of: keys).value.count == keys.count)
    #expect(connected.withLock { $0 } == Set(ports))
  }
}

/// A certificate of its own authority, in a folder that goes with it.
private final class Certificate: Sendable {
  private let folder = URL(filePath: NSTemporaryDirectory())
    .appending(path: "millpond-\(UInt32.random(in: 0 ... .max))")

  /// The path of the certificate, which is that of its authority.
  var path: String { folder.appending(path: "certificate").path }
  private var key: String { folder.appending(path: "key").path }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = LocalRedis.find("openssl")
    process.arguments = [
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", path, "-days",
      "3650",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
    ]
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns the options of a server with a port for encrypted connections.
  func options(port: UInt16) -> [String] {
    [
      "--tls-port", "\(port)", "--tls-cert-file", path, "--tls-key-file", key,
      "--tls-ca-cert-file", path, "--tls-auth-clients", "no",
    ]
  }
}

/// A stream by the program `openssl`, which ends if the certificate does not fit.
private final class OpenSSLStream: RedisStream {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private let receive = Locked<@Sendable (RedisStreamEvent) -> Void>({ _ in })
  private let queues = (DispatchQueue(label: "reading"), DispatchQueue(label: "writing"))

  /// So that a write to a program that has ended is an error.
  private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  init(_ arguments: [String]) {
    Self.ignoresBrokenPipes
    process.executableURL = LocalRedis.find("openssl")
    process.arguments = ["s_client", "-quiet", "-verify_return_error"] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
  }

  func connect(_ receive: @escaping @Sendable (RedisStreamEvent) -> Void) {
    self.receive.withLock { $0 = receive }
    queues.0.async { [self] in
      do {
        try process.run()
        // What is written meanwhile waits in the pipe until the certificate has been checked.
        receive(.connected)
      } catch {
        receive(.ended(error))
      }
    }
  }

  func read() {
    queues.0.async { [self] in
      let bytes = output.fileHandleForReading.availableData
      receive.withLock { $0 }(bytes.isEmpty ? .ended(nil) : .received(bytes))
    }
  }

  func write(_ bytes: Data) {
    queues.1.async { [self] in
      let isWritten = (try? input.fileHandleForWriting.write(contentsOf: bytes)) != nil
      receive.withLock { $0 }(isWritten ? .written : .ended(nil))
    }
  }

  func close() { if process.isRunning { process.terminate() } }
}

extension Trait where Self == ConditionTrait {
  /// Skips the tests where the program `openssl` is not installed.
  static var withOpenSSL: Self {
    .enabled(if: LocalRedis.find("openssl") != nil, "openssl is not installed")
  }
}
