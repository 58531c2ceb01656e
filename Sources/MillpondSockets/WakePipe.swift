/// A pipe by which another thread ends a wait for sockets.
package final class WakePipe: Sendable {
  /// The read end for the waiting thread, which also calls ``close()``; valid until then.
  package let descriptor: Int32

  private let writeEnd: Int32
  private let isOpen = Monitor(true)

  package init() throws(SocketError) {
    (descriptor, writeEnd) = try SocketCalls.openPipe()
  }

  deinit { close() }

  /// Ends the present wait or the next one, until ``clear()``, from any thread; does nothing after
  /// the close.
  package func signal() {
    isOpen.withLock { if $0 { SocketCalls.writeByte(writeEnd) } }
  }

  /// Makes the next wait last again.
  package func clear() { SocketCalls.drain(descriptor) }

  package func close() {
    isOpen.withLock {
      guard $0 else { return }
      $0 = false
      SocketCalls.close(descriptor)
      SocketCalls.close(writeEnd)
    }
  }
}
