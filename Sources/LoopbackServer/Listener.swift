/// A listener that accepts connections, each on its own thread, until it is stopped.
final class Listener: Sendable {
  private struct Open: Sendable {
    var isStopped = false
    var lastID = 0
    var sockets: [Int: Socket] = [:]
  }

  let port: UInt16
  let ledger = Ledger()

  private let service: Service
  private let socket: Socket
  private let wake: Wake
  private let crew = Crew()
  private let open = Monitor(Open())

  init(_ service: Service) throws(SocketError) {
    self.service = service
    (socket, port) = try Socket.listening()
    wake = try Wake()
    guard crew.start({ self.acceptAll() }) else {
      throw SocketError(in: "pthread_create")
    }
  }

  /// Stops the listener, and returns when every thread has ended and every descriptor is closed.
  func stop() {
    let sockets = open.withLock { open in
      open.isStopped = true
      return open.sockets.values
    }
    wake.signal()
    for socket in sockets { socket.shutDown() }
    crew.join()
  }

  private func acceptAll() {
    while !open.withLock(\.isStopped) {
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
    guard let line = try? Line(accepted), let id = add(accepted) else { return accepted.close() }
    ledger.openConnection()
    let started = crew.start { [self] in
      var connection = Connection(line, service, ledger)
      connection.serve()
      remove(id)
    }
    if !started {
      line.close()
      remove(id)
    }
  }

  private func add(_ accepted: Socket) -> Int? {
    open.withLock {
      guard !$0.isStopped else { return nil }
      $0.lastID += 1
      $0.sockets[$0.lastID] = accepted
      return $0.lastID
    }
  }

  private func remove(_ id: Int) {
    _ = open.withLock { $0.sockets.removeValue(forKey: id) }
    ledger.closeConnection()
  }
}
