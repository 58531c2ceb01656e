/// The framed head of a response, with the length of the body and the use of the connection.
struct ResponseHead: Sendable {
  /// The bytes up to the blank line, inclusive.
  let head: [UInt8]
  let sendsBody: Bool
  /// Whether the connection closes after the response.
  let isLast: Bool

  init(
    status: Int, headers: Headers, bodyByteCount: Int, isToHead: Bool, keepsAlive: Bool
  ) {
    let isBodyless = (100..<200).contains(status) || status == 204 || status == 304
    sendsBody = !isBodyless && !isToHead
    let stated = headers["Content-Length"]
    let isFramed = stated != nil || headers["Transfer-Encoding"] != nil
    let isFalse = stated.map { Int($0) != bodyByteCount } ?? false
    isLast =
      !keepsAlive || headers.lists("close", in: "Connection") || (sendsBody && isFalse)
    var headers = headers
    if !isFramed && !isBodyless { headers["Content-Length"] = String(bodyByteCount) }
    if isLast { headers["Connection"] = "close" }
    head = Self.head(status, headers)
  }

  private static func head(_ status: Int, _ headers: Headers) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(reason(status))\r\n"
    for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 404: "Not Found"
    case 413: "Content Too Large"
    case 416: "Range Not Satisfiable"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
