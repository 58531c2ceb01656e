import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

/// A server of the test's own and its clients.
struct RedisScene: Sendable {
  let server: LocalRedis

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: Further options.
  ///   - line: A part of the line of its log after which it is used.
  init(_ options: [String] = [], until line: String = LocalRedis.readyLine) throws {
    server = try LocalRedis(options, until: line)
  }

  /// Returns a client of its own, as another process would have.
  func client(
    connections: Int = 1, tracking: RedisTracking = .byPrefix,
    deadline: Duration = .seconds(10), heartbeat: Duration = .seconds(10)
  ) throws -> Redis {
    try Redis(
      .tcp(host: "127.0.0.1", port: server.port), connections: connections, deadline: deadline,
      heartbeat: heartbeat, tracking: tracking)
  }

  /// Returns a cache with a client of its own.
  func cache(
    _ prefix: String = "", connections: Int = 1, tracking: RedisTracking = .byPrefix,
    timeToLive: TimeToLive = .forever, form: RedisForm = .stamped
  ) throws -> RedisCache {
    RedisCache(
      try client(connections: connections, tracking: tracking), prefix: prefix,
      timeToLive: timeToLive, form: form)
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips the tests where no server is installed.
  static var withServer: Self {
    .enabled(if: LocalRedis.program != nil, "neither redis-server nor valkey-server is installed")
  }
}

extension Source where Value: Sendable {
  /// The value, or nil for a miss.
  func found(_ key: Key) async throws -> Value? {
    do {
      return try await get(key).value
    } catch CacheError.miss {
      return nil
    }
  }
}
