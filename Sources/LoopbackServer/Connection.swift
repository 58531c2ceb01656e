/// One connection from accept to close, with its requests and responses on one thread.
struct Connection {
  private enum Ending: Error {
    case gone
    case closing
    case resetting
    case refusing(Refusal)
  }

  private let log: RequestLog
  private let configuration: ServerConfiguration
  private var stream: ConnectionStream

  init(_ stream: ConnectionStream, _ configuration: ServerConfiguration, _ log: RequestLog) {
    self.stream = stream
    self.configuration = configuration
    self.log = log
  }

  /// Serves until one side ends the connection, and closes.
  mutating func serve() {
    do throws(Ending) {
      if !configuration.greeting.isEmpty { try greet() }
      while true { try answer(nextRequest()) }
    } catch {
      end(error)
    }
  }

  private mutating func greet() throws(Ending) {
    var bytesSent = 0
    for step in configuration.greeting { try play(ResponsePlan.Action(step), &bytesSent) }
    while true {
      try receive()
      _ = stream.take(stream.input.count)
    }
  }

  private mutating func end(_ ending: Ending) {
    switch ending {
    case .gone: stream.close()
    case .closing: stream.end(timeLimit: .zero)
    case .resetting: stream.reset()
    case .refusing(let refusal): refuse(refusal)
    }
  }
}

// MARK: - Requests

extension Connection {
  private mutating func nextRequest() throws(Ending) -> Request {
    let head = try nextHead()
    var request = head.request
    _ = stream.take(head.byteCount)
    if head.expectsContinue && stream.input.count < head.bodyByteCount {
      try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    request.body = head.isChunked ? try nextChunks() : try next(head.bodyByteCount)
    return request
  }

  private mutating func nextChunks() throws(Ending) -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let size = try chunkSize(nextLine())
      if size == 0 { break }
      if body.count + size > RequestHead.bodyByteLimit { throw .refusing(.bodyTooLarge) }
      body += try next(size)
      guard try nextLine().isEmpty else { throw .refusing(.malformed) }
    }
    while try !nextLine().isEmpty {}  // trailer fields
    return body
  }

  private func chunkSize(_ line: [UInt8]) throws(Ending) -> Int {
    do { return try RequestHead.chunkSize(line) } catch { throw .refusing(error) }
  }

  private mutating func next(_ byteCount: Int) throws(Ending) -> [UInt8] {
    while stream.input.count < byteCount { try receive() }
    return stream.take(byteCount)
  }

  /// Returns the bytes before the next line break.
  private mutating func nextLine() throws(Ending) -> [UInt8] {
    while true {
      if let end = stream.input.firstIndex(of: UInt8(ascii: "\n")) {
        let line = stream.take(end + 1).dropLast()
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
      }
      if stream.input.count > RequestHead.byteLimit { throw .refusing(.headTooLarge) }
      try receive()
    }
  }

  private mutating func nextHead() throws(Ending) -> RequestHead {
    while true {
      do {
        if let head = try RequestHead.parse(stream.input) { return head }
      } catch {
        throw .refusing(error)
      }
      try receive()
    }
  }

  private mutating func receive() throws(Ending) {
    do { try stream.receive() } catch { throw .gone }
  }

  // A client that is still sending gets a second to read the answer.
  private mutating func refuse(_ refusal: Refusal) {
    let message = ResponseHead(
      status: refusal.status, headers: [:], bodyByteCount: 0, isToHead: false, keepsAlive: false)
    do {
      try send(message.head)
      stream.end(timeLimit: .seconds(1))
    } catch {
      stream.close()
    }
  }
}

// MARK: - Responses

extension Connection {
  private mutating func answer(_ request: Request) throws(Ending) {
    let number = log.begin(request)
    var bodyBytesSent = 0
    do {
      for action in configuration.plan(for: request).actions { try play(action, &bodyBytesSent) }
      log.end(number, .served)
    } catch {
      log.end(number, outcome(of: error, bodyBytesSent))
      throw error
    }
  }

  private func outcome(of ending: Ending, _ bodyBytesSent: Int) -> RequestOutcome {
    guard case .gone = ending else { return .served }
    return stream.socket.isShutDown ? .stopped : .clientClosed(bodyBytesSent: bodyBytesSent)
  }

  private mutating func play(_ action: ResponsePlan.Action, _ bodyBytesSent: inout Int)
    throws(Ending)
  {
    switch action {
    case .wait(let duration):
      do { try stream.pause(until: .now + duration) } catch { throw .gone }
    case .hold(let hold):
      do { try pause(for: hold) } catch { throw .gone }
    case .sendHead(let bytes): try send(bytes)
    case .sendBody(let bytes, let bandwidth):
      let before = bodyBytesSent
      defer { log.count(bytesSent: bodyBytesSent - before) }
      do { try sendBody(bytes, bandwidth, &bodyBytesSent) } catch { throw .gone }
    case .close: throw .closing
    case .reset: throw .resetting
    }
  }

  private mutating func pause(for hold: ResponseHold) throws(ConnectionStream.Gone) {
    guard let id = hold.addWaker(stream.waker) else { return }
    defer { hold.removeWaker(id) }
    try stream.pause { hold.isReleased }
  }

  private mutating func send(_ bytes: [UInt8]) throws(Ending) {
    var uncounted = 0
    do { try stream.send(bytes[...], counting: &uncounted) } catch { throw .gone }
  }

  private mutating func sendBody(
    _ bytes: ArraySlice<UInt8>, _ bandwidth: BandwidthLimit?, _ sent: inout Int
  )
    throws(ConnectionStream.Gone)
  {
    guard let bandwidth else { return try stream.send(bytes, counting: &sent) }
    let start = ContinuousClock.now
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(bandwidth.pieceByteCount)
      rest = rest.dropFirst(piece.count)
      try stream.pause(until: start + bandwidth.due(bytes.count - rest.count))
      try stream.send(piece, counting: &sent)
    }
  }
}
