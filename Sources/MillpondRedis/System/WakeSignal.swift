import MillpondSignals

/// A pipe by which other threads end a wait.
final class WakeSignal: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(RedisError) {
    (readEnd, writeEnd) = try SystemCalls.openPipe()
  }

  deinit {
    SystemCalls.close(readEnd)
    SystemCalls.close(writeEnd)
  }

  /// Ends the present wait or the next one.
  func send() { SystemCalls.writeByte(writeEnd) }

  /// Makes the next wait last again.
  func clear() { SystemCalls.drain(readEnd) }
}
