/// A listener that accepts connections, each on its own thread, until it is stopped.
final class ConnectionListener: Sendable {
  private struct State: Sendable {
    var isStopped = false
    var lastID = 0
    var sockets: [Int: Socket] = [:]
  }

  let port: UInt16
  let log = RequestLog()

  private let configuration: ServerConfiguration
  private let socket: Socket
  private let wake: WakePipe
  private let threads = ThreadGroup()
  private let state = Monitor(State())

  init(_ configuration: ServerConfiguration) throws(SocketError) {
    self.configuration = configuration
    (socket, port) = try Socket.listening()
    wake = try WakePipe()
    guard threads.start({ self.acceptAll() }) else {
      throw SocketError(in: "pthread_create")
    }
  }

  /// Stops the listener, and returns when every thread has ended and every descriptor is closed.
  func stop() {
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
        serve(accepted)
      } else {
        // Accepting may fail for lack of descriptors; the waiting client keeps the socket readable,
        // so pause.
        _ = socket.look(reading: false, wake: wake, timeout: .milliseconds(10))
      }
    }
    socket.close()
    wake.close()
  }

  private func serve(_ accepted: Socket) {
    guard let stream = try? ConnectionStream(accepted), let id = add(accepted) else {
      return accepted.close()
    }
    log.openConnection()
    let started = threads.start { [self] in
      var connection = Connection(stream, configuration, log)
      connection.serve()
      remove(id)
    }
    if !started {
      stream.close()
      remove(id)
    }
  }

  private func add(_ accepted: Socket) -> Int? {
    state.withLock {
      guard !$0.isStopped else { return nil }
      $0.lastID += 1
      $0.sockets[$0.lastID] = accepted
      return $0.lastID
    }
  }

  private func remove(_ id: Int) {
    _ = state.withLock { $0.sockets.removeValue(forKey: id) }
    log.closeConnection()
  }
}
