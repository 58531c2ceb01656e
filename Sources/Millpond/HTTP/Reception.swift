import Foundation
import MillpondCore
import MillpondSignals

/// Puts an answer together, and says whether it is one.
struct Reception: Sendable {
  private let limits: HTTPLimits
  private let earlier: PartialBody?
  private var head: HTTPHead?
  private var framing = Framing.untilTheEnd
  private var body = Data()

  /// - Parameter earlier: What is there of the body, if the rest was asked for.
  init(_ limits: HTTPLimits, resuming earlier: PartialBody? = nil) {
    self.limits = limits
    self.earlier = earlier
  }

  /// Takes a part in.
  ///
  /// - Returns: How far the answer has come.
  mutating func received(_ part: HTTPPart) throws(TransferError) -> SignalProgress {
    switch part {
    case .head(let head): try received(head)
    case .body(let bytes): try received(bytes)
    }
    return SignalProgress(completed: body.count, total: framing.expected)
  }

  /// The answer, if it is complete; its bytes are given away.
  mutating func finished() throws(TransferError) -> Stamped<Data> {
    guard let head else { throw .invalidResponse(reason: "no head") }
    try framing.check(received: body.count)
    defer { body = Data() }
    return Stamped(body, validator: Validator(head.headers) ?? earlier?.validator)
  }

  /// The bytes so far, if the rest can be asked for later.
  var broken: PartialBody? {
    guard let head, framing.canBeResumed, !body.isEmpty else { return nil }
    if framing.expected == body.count { return nil }
    guard let earlier, head.status == 206 else { return PartialBody(head, body) }
    return body.count > earlier.bytes.count ? earlier.grown(to: body) : nil
  }

  private mutating func received(_ head: HTTPHead) throws(TransferError) {
    try limits.check(head.headers)
    if (100..<200).contains(head.status) { return }
    guard self.head == nil else { throw .invalidResponse(reason: "a second head") }
    if head.status == 206, let earlier {
      framing = try Framing(head, resuming: earlier)
      body = earlier.bytes
    } else if (200..<300).contains(head.status), head.status != 206 {
      framing = try Framing(head)
    } else {
      throw .status(code: head.status, headers: head.headers)
    }
    self.head = head
    if let expected = framing.expected {
      guard expected <= limits.byteLimit else { throw .tooLarge(limit: limits.byteLimit) }
      // A header is only a claim: no more than this is reserved for it.
      body.reserveCapacity(min(expected, 1 << 20))
    }
  }

  private mutating func received(_ bytes: Data) throws(TransferError) {
    guard head != nil else { throw .invalidResponse(reason: "a body without a head") }
    guard bytes.count <= limits.byteLimit - body.count else {
      throw .tooLarge(limit: limits.byteLimit)
    }
    body.append(bytes)
    if let expected = framing.expected, body.count > expected {
      throw .invalidResponse(reason: "more than the \(expected) bytes of its Content-Length")
    }
  }
}

extension Validator {
  fileprivate init?(_ headers: HeaderFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if entityTag == nil && lastModified == nil { return nil }
  }
}
