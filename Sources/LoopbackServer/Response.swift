/// What the origin answers: a proper message, or a script of misbehaviour.
///
///     Response(headers: ["Content-Type": "image/png"], body: bytes).held(by: hold)
public struct Response: Sendable {
  enum Content: Sendable {
    case message(status: Int, headers: Headers, body: [UInt8])
    case script([Step])
  }

  let content: Content
  var latency: Duration?
  var bytesPerSecond: Int?
  var headHold: Hold?
  var bodyHold: (hold: Hold, byteCount: Int)?

  /// A message; Content-Length is added unless `headers` has one.
  ///
  /// A Content-Length of your own that isn't the body's is sent as it is, and the connection is
  /// closed after the body. To HEAD, and with 204 and 304, no body is sent.
  public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = []) {
    content = .message(status: status, headers: headers, body: body)
  }

  private init(script: [Step]) { content = .script(script) }

  /// Exactly these steps: bytes as they are, and neither the server's latency nor its pace.
  ///
  /// After the last step the connection is kept, as after any response. The modifiers below do
  /// nothing to a script.
  public static func scripted(_ steps: [Step]) -> Response { Response(script: steps) }

  /// Waits for `latency`, and not for the server's, before the head.
  public func delayed(by latency: Duration) -> Response {
    var copy = self
    copy.latency = latency
    return copy
  }

  /// Sends the body in small pieces at this rate, and not at the server's.
  ///
  /// - Parameter bytesPerSecond: At least 1; `Int.max` is as fast as it goes.
  public func paced(bytesPerSecond: Int) -> Response {
    var copy = self
    copy.bytesPerSecond = bytesPerSecond
    return copy
  }

  /// Sends nothing, not even the head, before `hold` is released.
  public func held(by hold: Hold) -> Response {
    var copy = self
    copy.headHold = hold
    return copy
  }

  /// Sends the head and the first bytes of the body, and the rest when `hold` is released.
  public func held(by hold: Hold, afterBodyBytes count: Int) -> Response {
    var copy = self
    copy.bodyHold = (hold, count)
    return copy
  }
}
