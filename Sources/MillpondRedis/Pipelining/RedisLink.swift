import MillpondSockets

/// The bytes to and from a server, which block no thread: a socket, or a stream of the user's.
protocol RedisLink: AnyObject, Sendable {
  /// The descriptor to wait for; -1 if the link wakes the thread of the connections by itself.
  var descriptor: Int32 { get }

  /// Returns whether the link can be read from and written to after a wait; the first time that it
  /// can be written to, the attempt to connect is over.
  func readiness(after watch: SocketCalls.Watch) -> (isReadable: Bool, isWritable: Bool)

  /// The failure because of which it is not connected; nil if it is, or ended without one.
  var failure: RedisError? { get }

  /// Moves bytes that have arrived; none at the end.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketCalls.Transfer

  /// Takes as many bytes as there is room for.
  func send(_ bytes: UnsafeRawBufferPointer) -> SocketCalls.Transfer

  /// Ends both directions, so that reads and writes of other threads end.
  func shutDown()
}

extension RedisLink {
  /// Sends as much as there is room for; a failure counts as sent, and shuts down.
  func send(_ output: inout LinkOutput) {
    while output.sent < output.bytes.count {
      let result = output.bytes.withUnsafeBytes { bytes in
        send(UnsafeRawBufferPointer(rebasing: bytes[output.sent...]))
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
struct LinkOutput: Sendable {
  var bytes: [UInt8]

  /// The number of the connection.
  let generation: Int

  /// The number of the first bytes that the link has taken, and whether it has no room at present.
  var sent = 0
  var isBlocked = false

  /// The number of bytes that the link has not taken.
  var rest: Int { bytes.count - sent }
}
