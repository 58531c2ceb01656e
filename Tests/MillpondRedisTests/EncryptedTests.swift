import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import Testing

@testable import MillpondRedis

/// A server that takes encrypted connections only.
@Suite(.withServer, .withOpenSSL, .timeLimit(.minutes(2))) struct EncryptedTests {
  let scene: RedisScene
  let port: UInt16
  let authority: String

  init() throws {
    let folder = URL(filePath: NSTemporaryDirectory())
      .appending(path: "millpond-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (key, certificate) = (folder.appending(path: "key"), folder.appending(path: "certificate"))
    let made = try #require(LocalRedis.find("openssl"))
    try Self.run(
      made,
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key.path, "-out",
        certificate.path, "-days", "3650", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost",
      ])
    port = try LocalRedis.freePort()
    scene = try RedisScene([
      "--tls-port", "\(port)", "--tls-cert-file", certificate.path, "--tls-key-file", key.path,
      "--tls-ca-cert-file", certificate.path, "--tls-auth-clients", "no",
    ])
    let copy = scene.server.folder.appending(path: "authority")
    try FileManager.default.copyItem(at: certificate, to: copy)
    authority = copy.path
  }

  private static func run(_ program: URL, _ arguments: [String]) throws {
    let process = Process()
    (process.executableURL, process.arguments) = (program, arguments)
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func client(_ arguments: [String], name: String = "localhost") throws -> RedisCache {
    let redis = try Redis(.tls(host: "localhost", port: port), deadline: .seconds(30)) { _, port in
      OpenSSLStream(
        ["-connect", "127.0.0.1:\(port)", "-verify_hostname", name, "-servername", name]
          + arguments)
    }
    return RedisCache(redis, prefix: "")
  }

  @Test func `values, reports and a value of many pieces pass encrypted`() async throws {
    let shared = try client(["-CAfile", authority])
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
    let cache = try client(isTrusted ? ["-CAfile", authority] : [], name: name)

    await #expect(throws: CacheError.self) { try await cache.get("k").value }

    #expect(try scene.server.command("INFO", "commandstats").contains("cmdstat_hello") == false)
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
