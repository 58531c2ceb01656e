import MillpondSignals

/// A pipe by which other threads end a wait.
final class RedisWakePipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(RedisError) {
    (readEnd, writeEnd) = try SocketCalls.openPipe()
  }

  deinit {
    SocketCalls.close(readEnd)
    SocketCalls.close(writeEnd)
  }

  /// Ends the present wait or the next one.
  func send() { SocketCalls.writeByte(writeEnd) }

  /// Makes the next wait last again.
  func clear() { SocketCalls.drain(readEnd) }
}
