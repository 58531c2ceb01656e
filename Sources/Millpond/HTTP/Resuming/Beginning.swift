import Foundation
import MillpondCore

/// Which of a resource's contents over time bytes are of, in the words of its origin.
struct Edition: Sendable, Equatable {
  /// What is sent as `If-Range`: an entity tag or a date that stands for these very bytes.
  let condition: String

  /// What goes with the value.
  let validator: Validator
}

extension Edition {
  /// That of a whole answer; nil if the rest of it could not be asked for.
  init?(_ head: HTTPHead) {
    guard head.status == 200, let condition = head.headers.rangeCondition else { return nil }
    self.condition = condition
    validator = Validator(
      entityTag: head.headers["ETag"], lastModified: head.headers["Last-Modified"])
  }
}

/// How much there is of a body.
struct Beginning: Sendable, Equatable {
  let edition: Edition
  let byteCount: Int
}

extension HTTPRequest {
  /// The request for what comes after these bytes, or for all if they are out of date.
  ///
  /// Unencoded, since the bytes are: a range is one of what is sent.
  func resuming(_ beginning: Beginning) -> HTTPRequest {
    var request = self
    request.headers.append("bytes=\(beginning.byteCount)-", for: "Range")
    request.headers.append(beginning.edition.condition, for: "If-Range")
    request.headers.append("identity", for: "Accept-Encoding")
    return request
  }
}

extension HeaderFields {
  /// What can be sent as `If-Range` for bytes of this answer; nil if nothing can.
  ///
  /// - Source: RFC 9110 §13.1.5, §8.8.1 and §8.8.2.2; RFC 9111 §5.2.2.5.
  fileprivate var rangeCondition: String? {
    if areOfEncoded || lists("none", in: "Accept-Ranges") { return nil }
    if lists("no-store", in: "Cache-Control") { return nil }
    if let tag = self["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
    guard let date = self["Last-Modified"], let changed = HTTPDate(date),
      let sent = self["Date"].flatMap(HTTPDate.init), sent.seconds - changed.seconds >= 60
    else { return nil }
    return date
  }
}

extension Error {
  /// Whether what came before this may be the beginning of an answer.
  var leavesRest: Bool {
    switch self as? TransferError {
    case nil, .truncated, .timedOut: true
    default: false
    }
  }
}
