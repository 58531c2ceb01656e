/// The bytes that come and go on one connection; notices when the client leaves.
///
/// While it waits it reads what the client sends ahead, because the end of that is how a client
/// that closes shows itself.
struct Line {
  /// The client is gone, or the server is being stopped.
  struct Gone: Error {}

  private static let pieceByteCount = 16 * 1024
  // No more than this is read ahead; then only the platform's own sign of a close is looked for.
  private static let aheadByteLimit = 64 * 1024

  let socket: Socket
  let wake: Wake
  private(set) var input: [UInt8] = []

  init(_ socket: Socket) throws(SocketError) {
    self.socket = socket
    wake = try Wake()
  }

  /// Takes the first `count` bytes off ``input``.
  mutating func take(_ count: Int) -> [UInt8] {
    let taken = Array(input.prefix(count))
    input.removeFirst(taken.count)
    return taken
  }

  /// Waits for bytes of the client and appends them to ``input``.
  mutating func receive() throws(Gone) {
    while true {
      switch socket.receive(Self.pieceByteCount, into: &input) {
      case .moved(0), .failed: throw Gone()
      case .moved: return
      case .wouldBlock: _ = wait(reading: true, timeout: nil)
      }
    }
  }

  /// Sends it all; `count` grows by what was sent, also when the client leaves midway.
  mutating func send(_ bytes: ArraySlice<UInt8>, counting count: inout Int) throws(Gone) {
    var rest = bytes
    while !rest.isEmpty {
      switch socket.send(rest) {
      case .moved(let sent):
        rest = rest.dropFirst(sent)
        count += sent
      case .wouldBlock: try look(writing: true, timeout: nil)
      case .failed: throw Gone()
      }
    }
  }

  mutating func pause(until deadline: ContinuousClock.Instant) throws(Gone) {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      try look(timeout: left)
    }
  }

  mutating func pause(for hold: Hold) throws(Gone) {
    guard let id = hold.addWaker({ [wake] in wake.signal() }) else { return }
    defer { hold.removeWaker(id) }
    while !hold.isReleased { try look(timeout: nil) }
  }

  /// Waits until something happens, and reads ahead what has come.
  private mutating func look(writing: Bool = false, timeout: Duration?) throws(Gone) {
    let reading = input.count < Self.aheadByteLimit
    let seen = wait(reading: reading, writing: writing, timeout: timeout)
    if seen.isReadable {
      try receive()
    } else if seen.isHungUp {
      throw Gone()
    }
  }

  // Clears every wake-up, also one that comes late: left alone, it would make each wait a spin.
  private func wait(reading: Bool, writing: Bool = false, timeout: Duration?)
    -> Platform.Readiness
  {
    let seen = socket.look(reading: reading, writing: writing, wake: wake, timeout: timeout)
    if seen.isWoken { wake.clear() }
    return seen
  }
}

// MARK: - Endings

extension Line {
  func close() {
    socket.close()
    wake.close()
  }

  func reset() {
    socket.reset()
    wake.close()
  }

  /// Says that nothing more will come, and closes when the client has too or `patience` ends.
  ///
  /// To close while bytes of the client are unread is to reset, and that would take back what was
  /// sent to it.
  mutating func end(patience: Duration) {
    socket.endWriting()
    let deadline = ContinuousClock.now + patience
    reading: while true {
      input = []
      let result = socket.receive(Self.pieceByteCount, into: &input)
      let left = ContinuousClock.now.duration(to: deadline)
      switch result {
      case .moved(0), .failed: break reading
      case _ where left <= .zero: break reading
      case .moved: continue
      case .wouldBlock: _ = wait(reading: true, timeout: left)
      }
    }
    close()
  }
}
