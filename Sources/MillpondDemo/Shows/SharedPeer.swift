import Foundation
import Millpond
import MillpondRedis

/// One of the processes: memory over the server, and one key.
struct SharedPeer: Sendable {
  private static let variable = "MILLPOND_DEMO_REDIS"
  private let memory = MemoryCache<String, String>(countLimit: 100)
  private let shared: RedisCache
  private let cache: AnyCache<String, String>

  /// The port of the server in the second process; nil in the first.
  static var portOfFirst: UInt16? {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt16($0) }
  }

  /// The environment of the second process.
  static func environment(port: UInt16) -> [String: String] {
    ProcessInfo.processInfo.environment.merging([variable: "\(port)"]) { $1 }
  }

  init(port: UInt16) throws {
    shared = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: port)), prefix: "demo/")
    cache = AnyCache(memory.following(shared).layered(over: shared.mapValues(.utf8)))
  }

  /// Waits until the server reports the changes of others.
  func follows() async throws {
    while !shared.redis.isTracking { _ = try? await shared.redis.ping().value }
  }

  /// Answers the commands of the first process, one a line.
  func run() async throws {
    try await follows()
    Self.answer("ready")
    while let line = readLine() { Self.answer(try await answer(to: line)) }
  }

  func answer(to line: String) async throws -> String {
    let words = line.split(separator: " ").map { String($0) }
    do {
      switch words.first {
      case "set": try await cache.set(words.last ?? "", for: "pond").value
      case "remove": try await cache.remove("pond").value
      default:
        // Every change that was reported within a round trip is known now.
        _ = try? await shared.redis.ping().value
        let isInMemory = memory.now("pond", Lookup()) != nil
        return try await cache.get("pond").value
          + (isInMemory ? ", from memory" : ", from the server")
      }
      return "done"
    } catch CacheError.miss {
      return "nothing"
    } catch {
      return "failed: \(error)"
    }
  }

  private static func answer(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}

/// The second process, from the point of view of the first.
final class PeerProcess {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  init(port: UInt16) throws {
    process.executableURL = Bundle.main.executableURL
    // The same show in another process.
    process.arguments = Array(CommandLine.arguments.dropFirst())
    process.environment = SharedPeer.environment(port: port)
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    _ = try line()
  }

  deinit { process.terminate() }

  /// Sends a command and returns the answer.
  func ask(_ command: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    return try line()
  }

  private func line() throws -> String {
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty,
      byte != Data("\n".utf8)
    { line += byte }
    return String(decoding: line, as: UTF8.self)
  }
}
