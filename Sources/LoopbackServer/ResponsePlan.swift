/// All steps of one response, decided before the first.
struct ResponsePlan: Sendable {
  enum Action: Sendable {
    case wait(Duration)
    case hold(ResponseHold)
    case sendHead([UInt8])
    case sendBody(ArraySlice<UInt8>, BandwidthLimit?)
    case close
    case reset
  }

  let actions: [Action]

  /// Plans `response`.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request that it answers.
  ///   - latency: The server's latency, for responses without their own.
  ///   - pace: The server's pace, for responses without their own.
  init(_ response: Response, to request: Request, latency: Duration, bandwidth: BandwidthLimit?) {
    switch response.content {
    case .script(let steps):
      actions = steps.map(Action.init) + (request.keepsAlive ? [] : [.close])
    case .message(let status, let headers, let body):
      let message = ResponseHead(
        status: status, headers: headers, bodyByteCount: body.count,
        isToHead: request.method == "HEAD", keepsAlive: request.keepsAlive)
      let body = message.sendsBody ? body[...] : []
      let bandwidth = response.bytesPerSecond.map(BandwidthLimit.init) ?? bandwidth
      actions =
        Self.before(response, latency) + [.sendHead(message.head)]
        + Self.after(response, body, bandwidth) + (message.isLast ? [.close] : [])
    }
  }

  private static func before(_ response: Response, _ latency: Duration) -> [Action] {
    var actions: [Action] = []
    let latency = response.latency ?? latency
    if latency > .zero { actions.append(.wait(latency)) }
    if let hold = response.headHold { actions.append(.hold(hold)) }
    return actions
  }

  private static func after(
    _ response: Response, _ body: ArraySlice<UInt8>, _ bandwidth: BandwidthLimit?
  )
    -> [Action]
  {
    guard let (hold, count) = response.bodyHold else { return [.sendBody(body, bandwidth)] }
    return [
      .sendBody(body.prefix(count), bandwidth), .hold(hold),
      .sendBody(body.dropFirst(count), bandwidth),
    ]
  }
}

extension ResponsePlan.Action {
  init(_ step: ScriptStep) {
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
