/// The byte stream of one connection, which notices when the client leaves.
///
/// While it waits, it reads ahead, because a client that closes shows itself by the end of its
/// bytes.
package struct ConnectionStream: Sendable {
  /// The error for a client that has left, or a server that is being stopped.
  package struct Gone: Error {}

  private static let pieceByteCount = 16 * 1024
  // The limit of reading ahead; beyond it, only the platform's hang-up event reports a close.
  private static let aheadByteLimit = 64 * 1024

  package let socket: Socket
  private let wake: WakePipe
  package private(set) var input: [UInt8] = []

  init(_ socket: Socket) throws(SocketError) {
    self.socket = socket
    wake = try WakePipe()
  }

  /// Removes and returns the first `count` bytes of ``input``.
  package mutating func take(_ count: Int) -> [UInt8] {
    let taken = Array(input.prefix(count))
    input.removeFirst(taken.count)
    return taken
  }

  /// Waits for bytes of the client, and appends them to ``input``.
  ///
  /// - Parameter deadline: The time at which a silent client counts as gone; nil for never.
  package mutating func receive(
    until deadline: ContinuousClock.Instant? = nil
  ) throws(Gone) {
    while true {
      switch socket.receive(Self.pieceByteCount, into: &input) {
      case .moved(0), .failed: throw Gone()
      case .moved: return
      case .wouldBlock: _ = wait(reading: true, timeout: try left(until: deadline))
      }
    }
  }

  /// Returns the time to a deadline; nil if there is none.
  private func left(until deadline: ContinuousClock.Instant?) throws(Gone) -> Duration? {
    guard let deadline else { return nil }
    let left = ContinuousClock.now.duration(to: deadline)
    guard left > .zero else { throw Gone() }
    return left
  }

  /// Sends all bytes; `count` grows by the bytes sent, even if the client leaves midway.
  ///
  /// - Parameter deadline: The time at which a client that doesn't read counts as gone; nil for
  ///   never.
  package mutating func send(
    _ bytes: ArraySlice<UInt8>, counting count: inout Int,
    until deadline: ContinuousClock.Instant? = nil
  ) throws(Gone) {
    var rest = bytes
    while !rest.isEmpty {
      switch socket.send(rest) {
      case .moved(let sent):
        rest = rest.dropFirst(sent)
        count += sent
      case .wouldBlock: try look(writing: true, timeout: try left(until: deadline))
      case .failed: throw Gone()
      }
    }
  }

  package mutating func pause(until deadline: ContinuousClock.Instant) throws(Gone) {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      try look(timeout: left)
    }
  }

  /// Waits until something happens, and reads the bytes that have arrived.
  ///
  /// - Parameters:
  ///   - isOver: Whether the wait is over.
  package mutating func pause(until isOver: () -> Bool) throws(Gone) {
    while !isOver() { try look(timeout: nil) }
  }

  /// A function that ends the present wait or the next one, so that its condition is looked at.
  package var waker: @Sendable () -> Void {
    { [wake] in wake.signal() }
  }

  /// Waits until something happens, and reads the bytes that have arrived.
  private mutating func look(writing: Bool = false, timeout: Duration?) throws(Gone) {
    let reading = input.count < Self.aheadByteLimit
    let seen = wait(reading: reading, writing: writing, timeout: timeout)
    if seen.isReadable {
      try receive()
    } else if seen.isHungUp {
      throw Gone()
    }
  }

  // Clears every wake-up, including a late one, which would otherwise turn each wait into a spin.
  private func wait(reading: Bool, writing: Bool = false, timeout: Duration?)
    -> Socket.Readiness
  {
    let seen = socket.look(reading: reading, writing: writing, wake: wake, timeout: timeout)
    if seen.isWoken { wake.clear() }
    return seen
  }
}

// MARK: - Endings

extension ConnectionStream {
  package func close() {
    socket.close()
    wake.close()
  }

  package func reset() {
    socket.reset()
    wake.close()
  }

  /// Ends the sending direction, and closes when the client has closed too or `timeLimit` is over.
  ///
  /// Closing with unread bytes of the client would send a reset, which may discard bytes already
  /// sent to it.
  package mutating func end(timeLimit: Duration) {
    socket.endWriting()
    let deadline = ContinuousClock.now + timeLimit
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
