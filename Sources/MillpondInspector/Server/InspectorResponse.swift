import MillpondCore

/// A response of the inspector, after which the connection is closed.
struct InspectorResponse: Sendable {
  let bytes: [UInt8]

  /// Creates a response with a body.
  init(status: Int = 200, _ type: String, _ body: String, policy: String = "default-src 'none'") {
    let body = Array(body.utf8)
    bytes =
      Self.head(status, [("Content-Length", "\(body.count)")], type: type, policy: policy) + body
  }

  /// Creates a response without a body.
  init(refusing status: Int) {
    self.init(status: status, "text/plain; charset=utf-8", "\(status) \(Self.reason(status))\n")
  }

  /// The head of a stream of events, which ends with the connection.
  static var eventStream: InspectorResponse {
    InspectorResponse(
      bytes: head(200, [], type: "text/event-stream", policy: "default-src 'none'")
        + Array("retry: 1000\n\n".utf8))
  }

  /// The counters, sizes and servers of a composition, in the text format of Prometheus.
  static func metrics(of topology: Topology) -> InspectorResponse {
    InspectorResponse("text/plain; version=0.0.4; charset=utf-8", topology.prometheusText)
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private static func head(
    _ status: Int, _ fields: [(String, String)], type: String, policy: String
  ) -> [UInt8] {
    let all =
      fields + [
        ("Content-Type", type), ("Content-Security-Policy", policy), ("Connection", "close"),
        ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
      ]
    let lines = ["HTTP/1.1 \(status) \(reason(status))"] + all.map { "\($0.0): \($0.1)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
