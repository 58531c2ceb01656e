import Foundation
import MillpondCore

/// The first bytes of a body, and by what the origin can say whether the rest still fits to them.
struct PartialBody: Sendable, Equatable {
  let bytes: Data

  /// What is sent as `If-Range`: an entity tag or a date that stands for these very bytes.
  let condition: String

  /// What goes with the value.
  let validator: Validator
}

extension PartialBody {
  /// The bytes of an answer that broke off; nil if the rest can't be asked for.
  init?(_ head: HTTPHead, _ bytes: Data) {
    guard head.status == 200, let condition = head.headers.rangeCondition else { return nil }
    self.bytes = bytes
    self.condition = condition
    validator = Validator(
      entityTag: head.headers["ETag"], lastModified: head.headers["Last-Modified"])
  }

  /// The same body with more bytes.
  func grown(to bytes: Data) -> PartialBody {
    PartialBody(bytes: bytes, condition: condition, validator: validator)
  }
}

extension HTTPRequest {
  /// The request for what comes after these bytes, or for all if they are out of date.
  ///
  /// Unencoded, since the bytes are: a range is one of what is sent.
  func resuming(_ partial: PartialBody) -> HTTPRequest {
    var request = self
    request.headers.append("bytes=\(partial.bytes.count)-", for: "Range")
    request.headers.append(partial.condition, for: "If-Range")
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
