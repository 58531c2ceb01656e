/// A listener that accepts connections, each on its own thread, until it is stopped.
package final class ConnectionListener: Sendable {
  private struct State: Sendable {
    var isStopped = false
    var lastID = 0
    var sockets: [Int: Socket] = [:]
  }

  package let port: UInt16

  private let limit: Int
  private let serve: @Sendable (ConnectionStream, _ port: UInt16) -> Void
  private let socket: Socket
  private let wake: WakePipe
  private let threads = ThreadGroup()
  private let state = Monitor(State())

  /// Listens on a free port of 127.0.0.1, and accepts connections.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of connections at a time; further ones are closed at once.
  ///   - serve: Serves a connection to the listener's port on a thread of its own, and closes its
  ///     stream.
  /// - Throws: ``SocketError`` when the system refuses a socket, a pipe or a thread.
  package init(
    limit: Int = .max,
    serve: @escaping @Sendable (ConnectionStream, _ port: UInt16) -> Void
  ) throws(SocketError) {
    self.limit = limit
    self.serve = serve
    (socket, port) = try Socket.listening()
    wake = try WakePipe()
    guard threads.start({ self.acceptAll() }) else {
      throw SocketError(in: "pthread_create")
    }
  }

  /// Stops the listener, and returns when every thread has ended and every descriptor is closed.
  package func stop() {
    let sockets = state.withLock { state in
      state.isStopped = true
      return state.sockets.values
    }
    wake.signal()
    for socket in sockets { socket.shutDown() }
    threads.join()
  }

  private func acceptAll() {
    while !state.withLock(\.isStopped) {
      guard socket.look(reading: true, wake: wake, timeout: nil).isReadable else { continue }
      if let accepted = socket.accept() {
        open(accepted)
      } else {
        // Accepting may fail for lack of descriptors; the waiting client keeps the socket readable,
        // so pause.
        _ = socket.look(reading: false, wake: wake, timeout: .milliseconds(10))
      }
    }
    socket.close()
    wake.close()
  }

  private func open(_ accepted: Socket) {
    guard let stream = try? ConnectionStream(accepted), let id = add(accepted) else {
      return accepted.close()
    }
    let started = threads.start { [self] in
      serve(stream, port)
      remove(id)
    }
    if !started {
      stream.close()
      remove(id)
    }
  }

  private func add(_ accepted: Socket) -> Int? {
    state.withLock {
      guard !$0.isStopped, $0.sockets.count < limit else { return nil }
      $0.lastID += 1
      $0.sockets[$0.lastID] = accepted
      return $0.lastID
    }
  }

  private func remove(_ id: Int) {
    _ = state.withLock { $0.sockets.removeValue(forKey: id) }
  }
}
