/// Ends a wait for a socket from another thread: a pipe, looked at together with the socket.
final class Wake: Sendable {
  /// For the one who waits; valid until ``close()``, which is also theirs to call.
  let descriptor: Int32

  private let writeEnd: Int32
  private let isOpen = Monitor(true)

  init() throws(SocketError) {
    guard let ends = Platform.openPipe() else { throw SocketError(in: "pipe") }
    descriptor = ends.readEnd
    writeEnd = ends.writeEnd
  }

  deinit { close() }

  /// Makes ``descriptor`` readable until ``clear()``, from any thread; after the close, nothing.
  func signal() {
    isOpen.withLock { if $0 { Platform.writeByte(writeEnd) } }
  }

  func clear() { Platform.readBytes(descriptor) }

  func close() {
    isOpen.withLock {
      guard $0 else { return }
      $0 = false
      Platform.closeDescriptor(descriptor)
      Platform.closeDescriptor(writeEnd)
    }
  }
}
