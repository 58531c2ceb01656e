import MillpondSockets

/// A link by TCP or a Unix socket: what the client does with sockets it does here, but for the wait
/// for several of them.
///
/// It is closed when the last thread that uses it has released it, so that its number can't be
/// assigned again while a thread sends.
final class RedisSocket: RedisLink {
  let descriptor: Int32

  /// Opens a socket and begins to connect it.
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

  var failure: RedisError? { SocketCalls.connectFailure(descriptor).map { RedisError($0) } }

  func readiness(after watch: SocketCalls.Watch) -> (isReadable: Bool, isWritable: Bool) {
    watch.descriptor == descriptor ? (watch.isReadable, watch.isWritable) : (false, false)
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketCalls.Transfer {
    SocketCalls.receive(descriptor, into: buffer)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> SocketCalls.Transfer {
    SocketCalls.send(descriptor, bytes)
  }

  func shutDown() { SocketCalls.endBothWays(descriptor) }
}
