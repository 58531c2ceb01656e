/// All steps of one response, decided before the first.
struct Plan: Sendable {
  enum Move: Sendable {
    case wait(Duration)
    case hold(Hold)
    case sendHead([UInt8])
    case sendBody(ArraySlice<UInt8>, Pace?)
    case close
    case reset
  }

  let moves: [Move]

  /// Plans `response`.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request that it answers.
  ///   - latency: The server's latency, for responses without their own.
  ///   - pace: The server's pace, for responses without their own.
  init(_ response: Response, to request: Request, latency: Duration, pace: Pace?) {
    switch response.content {
    case .script(let steps):
      moves = steps.map(Move.init) + (request.keepsAlive ? [] : [.close])
    case .message(let status, let headers, let body):
      let message = Message(
        status: status, headers: headers, bodyByteCount: body.count,
        isToHead: request.method == "HEAD", keepsAlive: request.keepsAlive)
      let body = message.sendsBody ? body[...] : []
      let pace = response.bytesPerSecond.map(Pace.init) ?? pace
      moves =
        Self.before(response, latency) + [.sendHead(message.head)]
        + Self.after(response, body, pace) + (message.isLast ? [.close] : [])
    }
  }

  private static func before(_ response: Response, _ latency: Duration) -> [Move] {
    var moves: [Move] = []
    let latency = response.latency ?? latency
    if latency > .zero { moves.append(.wait(latency)) }
    if let hold = response.headHold { moves.append(.hold(hold)) }
    return moves
  }

  private static func after(_ response: Response, _ body: ArraySlice<UInt8>, _ pace: Pace?)
    -> [Move]
  {
    guard let (hold, count) = response.bodyHold else { return [.sendBody(body, pace)] }
    return [
      .sendBody(body.prefix(count), pace), .hold(hold), .sendBody(body.dropFirst(count), pace),
    ]
  }
}

extension Plan.Move {
  init(_ step: Step) {
    self =
      switch step {
      case .send(let bytes): .sendBody(bytes[...], nil)
      case .wait(let duration): .wait(duration)
      case .hold(let hold): .hold(hold)
      case .close: .close
      case .reset: .reset
      }
  }
}
