import MillpondSockets

/// The stream of bytes to a server, by TCP or a Unix socket: what the client does with sockets it
/// does here, but for the wait for several of them.
///
/// It blocks no thread, and is closed when the last thread that uses it has released it, so that its
/// number can't be assigned again while a thread sends.
final class RedisSocket: Sendable {
  let descriptor: Int32

  /// Opens a socket and begins to connect it; when it can be written to, that is over.
  init(connectingTo address: SocketAddress) throws(RedisError) {
    do throws(SocketError) {
      descriptor = try SocketCalls.open(family: address.family)
      SocketCalls.sendSmallPiecesAtOnce(descriptor)
      try SocketCalls.connect(descriptor, to: address)
    } catch {
      throw RedisError(error)
    }
  }

  deinit { SocketCalls.close(descriptor) }

  /// The failure of the attempt to connect; nil if it is connected.
  var connectFailure: RedisError? {
    SocketCalls.connectFailure(descriptor).map { RedisError($0) }
  }

  /// Moves bytes that have arrived; none at the end.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketCalls.Transfer {
    SocketCalls.receive(descriptor, into: buffer)
  }

  /// Ends both directions, so that reads and writes of other threads end.
  func shutDown() { SocketCalls.endBothWays(descriptor) }

  /// Sends as much as there is room for; a failure counts as sent, and shuts down.
  func send(_ output: inout SocketOutput) {
    while output.sent < output.bytes.count {
      let result = output.bytes.withUnsafeBytes { bytes in
        SocketCalls.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[output.sent...]))
      }
      switch result {
      case .moved(let count): output.sent += count
      case .wouldBlock: return output.isBlocked = true
      case .failed:
        shutDown()
        output.sent = output.bytes.count
      }
    }
  }
}

/// Bytes to send on a connection.
struct SocketOutput: Sendable {
  var bytes: [UInt8]

  /// The number of the connection.
  let generation: Int

  /// The number of the first bytes that the socket has taken, and whether it has no room at
  /// present.
  var sent = 0
  var isBlocked = false

  /// The number of bytes that the socket has not taken.
  var rest: Int { bytes.count - sent }
}
