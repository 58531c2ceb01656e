public import Foundation

/// A stream of bytes to a server, through which a client speaks in place of its own sockets: the
/// seam for TLS, and for whatever else stands between a client and its server.
///
///     let redis = try Redis(.tls(host: "cache.example.com")) { host, port in
///       NIOStream(to: host, port, context)
///     }
///
/// The client makes a stream for each connection, connects it once and closes it at the end. It
/// keeps the deadlines: a stream that does not connect, or goes silent, is closed by the client. It
/// asks for further bytes when it has read those that came, and writes again when the last write
/// has ended, so a stream needs no buffers of its own.
///
/// The article "Redis over TLS on Linux" in the documentation of `Millpond` has a whole one. On
/// Apple's platforms `NetworkStream` is one by the system's TLS.
///
/// - Note: The methods are called on any thread, one at a time except for ``close()``, and must not
///   block.
public protocol RedisStream: Sendable {
  /// Begins to connect.
  ///
  /// - Parameter receive: Receives what happens, one event at a time, on any thread; it returns at
  ///   once. Nothing that comes after the end counts.
  func connect(_ receive: @escaping @Sendable (RedisStreamEvent) -> Void)

  /// Asks for bytes; they are sent as ``RedisStreamEvent/received(_:)``, in one piece or several.
  func read()

  /// Sends bytes; ``RedisStreamEvent/written`` tells that there is room for the next ones.
  func write(_ bytes: Data)

  /// Ends the stream in both directions, and releases what it has; it may be called again.
  func close()
}

/// An event of a ``RedisStream``.
public enum RedisStreamEvent: Sendable {
  /// The stream is connected, and the server is who it should be.
  case connected

  /// Bytes have arrived.
  case received(Data)

  /// The bytes of the last write are on their way, so that there is room for further ones.
  case written

  /// The stream has ended, by a failure or, without one, by the server; also if it could not be
  /// connected.
  case ended((any Error)?)
}
