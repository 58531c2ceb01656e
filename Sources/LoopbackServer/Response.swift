/// A response of the origin: a proper message, or a script of misbehaviour.
///
///     Response(headers: ["Content-Type": "image/png"], body: bytes).held(by: hold)
public struct Response: Sendable {
  enum Content: Sendable {
    case message(status: Int, headers: Headers, body: [UInt8])
    case script([ScriptStep])
  }

  let content: Content
  var latency: Duration?
  var bytesPerSecond: Int?
  var headHold: ResponseHold?
  var bodyHold: (hold: ResponseHold, byteCount: Int)?

  /// Creates a message; Content-Length is added unless `headers` frames the body.
  ///
  /// A Content-Length in `headers` that differs from the body's length is sent as it is, and the
  /// connection is closed after the body. No body is sent in answer to HEAD, or with 1xx, 204 and
  /// 304.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - body: The bytes of the body.
  public init(status: Int = 200, headers: Headers = [:], body: [UInt8] = []) {
    content = .message(status: status, headers: headers, body: body)
  }

  private init(script: [ScriptStep]) { content = .script(script) }

  /// Returns a response of exactly these steps, without the server's latency and pace.
  ///
  /// After the last step the connection is kept, as after any response. The modifiers below do not
  /// affect a script.
  public static func scripted(_ steps: [ScriptStep]) -> Response { Response(script: steps) }

  /// Waits for `latency`, instead of the server's, before the head.
  public func delayed(by latency: Duration) -> Response {
    var copy = self
    copy.latency = latency
    return copy
  }

  /// Sends the body in small pieces at this rate, instead of the server's.
  ///
  /// - Parameter bytesPerSecond: At least 1; `Int.max` is practically unlimited.
  public func paced(bytesPerSecond: Int) -> Response {
    var copy = self
    copy.bytesPerSecond = bytesPerSecond
    return copy
  }

  /// Sends nothing, not even the head, until `hold` is released.
  public func held(by hold: ResponseHold) -> Response {
    var copy = self
    copy.headHold = hold
    return copy
  }

  /// Sends the head and the first `count` body bytes, and the rest when `hold` is released.
  public func held(by hold: ResponseHold, afterBodyBytes count: Int) -> Response {
    var copy = self
    copy.bodyHold = (hold, count)
    return copy
  }
}
