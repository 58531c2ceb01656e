/// One connection from accept to close, with its requests and responses on one thread.
struct Connection {
  private enum Ending: Error {
    case gone
    case closing
    case resetting
    case refusing(Refusal)
  }

  private let ledger: Ledger
  private let service: Service
  private var line: Line

  init(_ line: Line, _ service: Service, _ ledger: Ledger) {
    self.line = line
    self.service = service
    self.ledger = ledger
  }

  /// Serves until one side ends the connection, and closes.
  mutating func serve() {
    do throws(Ending) {
      if !service.greeting.isEmpty { try greet() }
      while true { try answer(nextRequest()) }
    } catch {
      end(error)
    }
  }

  private mutating func greet() throws(Ending) {
    var bytesSent = 0
    for step in service.greeting { try play(Plan.Move(step), &bytesSent) }
    while true {
      try receive()
      _ = line.take(line.input.count)
    }
  }

  private mutating func end(_ ending: Ending) {
    switch ending {
    case .gone: line.close()
    case .closing: line.end(patience: .zero)
    case .resetting: line.reset()
    case .refusing(let refusal): refuse(refusal)
    }
  }
}

// MARK: - Requests

extension Connection {
  private mutating func nextRequest() throws(Ending) -> Request {
    let head = try nextHead()
    var request = head.request
    _ = line.take(head.byteCount)
    if head.expectsContinue && line.input.count < head.bodyByteCount {
      try send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    while line.input.count < head.bodyByteCount { try receive() }
    request.body = line.take(head.bodyByteCount)
    return request
  }

  private mutating func nextHead() throws(Ending) -> RequestHead {
    while true {
      do {
        if let head = try RequestHead.parse(line.input) { return head }
      } catch {
        throw .refusing(error)
      }
      try receive()
    }
  }

  private mutating func receive() throws(Ending) {
    do { try line.receive() } catch { throw .gone }
  }

  // A client that is still sending gets a second to read the answer.
  private mutating func refuse(_ refusal: Refusal) {
    let message = Message(
      status: refusal.status, headers: [:], bodyByteCount: 0, isToHead: false, keepsAlive: false)
    do {
      try send(message.head)
      line.end(patience: .seconds(1))
    } catch {
      line.close()
    }
  }
}

// MARK: - Responses

extension Connection {
  private mutating func answer(_ request: Request) throws(Ending) {
    let number = ledger.begin(request)
    var bodyBytesSent = 0
    do {
      for move in service.plan(for: request).moves { try play(move, &bodyBytesSent) }
      ledger.end(number, .served)
    } catch {
      ledger.end(number, outcome(of: error, bodyBytesSent))
      throw error
    }
  }

  private func outcome(of ending: Ending, _ bodyBytesSent: Int) -> Outcome {
    guard case .gone = ending else { return .served }
    return line.socket.isShutDown ? .stopped : .clientClosed(bodyBytesSent: bodyBytesSent)
  }

  private mutating func play(_ move: Plan.Move, _ bodyBytesSent: inout Int) throws(Ending) {
    switch move {
    case .wait(let duration):
      do { try line.pause(until: .now + duration) } catch { throw .gone }
    case .hold(let hold):
      do { try line.pause(for: hold) } catch { throw .gone }
    case .sendHead(let bytes): try send(bytes)
    case .sendBody(let bytes, let pace):
      let before = bodyBytesSent
      defer { ledger.count(bytesSent: bodyBytesSent - before) }
      do { try sendBody(bytes, pace, &bodyBytesSent) } catch { throw .gone }
    case .close: throw .closing
    case .reset: throw .resetting
    }
  }

  private mutating func send(_ bytes: [UInt8]) throws(Ending) {
    var uncounted = 0
    do { try line.send(bytes[...], counting: &uncounted) } catch { throw .gone }
  }

  private mutating func sendBody(_ bytes: ArraySlice<UInt8>, _ pace: Pace?, _ sent: inout Int)
    throws(Line.Gone)
  {
    guard let pace else { return try line.send(bytes, counting: &sent) }
    let start = ContinuousClock.now
    var rest = bytes
    while !rest.isEmpty {
      let piece = rest.prefix(pace.pieceByteCount)
      rest = rest.dropFirst(piece.count)
      try line.pause(until: start + pace.due(bytes.count - rest.count))
      try line.send(piece, counting: &sent)
    }
  }
}
