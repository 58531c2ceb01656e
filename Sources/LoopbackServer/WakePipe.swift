/// A pipe by which another thread ends a wait for a socket.
final class WakePipe: Sendable {
  /// The read end for the waiting thread, which also calls ``close()``; valid until then.
  let descriptor: Int32

  private let writeEnd: Int32
  private let isOpen = Monitor(true)

  init() throws(SocketError) {
    guard let ends = Platform.openPipe() else { throw SocketError(in: "pipe") }
    descriptor = ends.readEnd
    writeEnd = ends.writeEnd
  }

  deinit { close() }

  /// Makes ``descriptor`` readable until ``clear()``, from any thread; does nothing after the
  /// close.
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
