import Foundation
import MillpondCore
import MillpondSignals

/// Puts an answer together, and says whether it is one.
struct Reception {
  private let byteLimit: Int
  private var head: HTTPHead?
  private var framing = Framing.untilTheEnd
  private var body = Data()

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  /// Takes a part in.
  ///
  /// - Returns: How far the answer has come.
  mutating func received(_ part: HTTPPart) throws(TransferError) -> SignalProgress? {
    switch part {
    case .head(let head): try received(head)
    case .body(let bytes): try received(bytes)
    }
  }

  /// The answer, if it is complete; its bytes are given away.
  mutating func finished() throws(TransferError) -> Stamped<Data> {
    guard let head else { throw .invalidResponse(reason: "no head") }
    switch framing {
    case .exactly(let expected) where body.count < expected:
      throw .truncated(received: body.count, expected: expected)
    case .encoded where body.isEmpty:
      // Linux: what URLSession can't decode ends so, without an error (swift-corelibs-foundation,
      // seen in 6.3.1).
      throw .truncated(received: 0, expected: nil)
    default:
      defer { body = Data() }
      return Stamped(body, validator: Validator(head.headers))
    }
  }

  private mutating func received(
    _ head: HTTPHead
  ) throws(TransferError) -> SignalProgress? {
    if (100..<200).contains(head.status) { return nil }
    guard self.head == nil else { throw .invalidResponse(reason: "a second head") }
    guard (200..<300).contains(head.status), head.status != 206 else {
      throw .status(code: head.status, headers: head.headers)
    }
    self.head = head
    framing = try Framing(head)
    if let expected = framing.expected {
      guard expected <= byteLimit else { throw .tooLarge(limit: byteLimit) }
      // A header is only a claim: no more than this is reserved for it.
      body.reserveCapacity(min(expected, 1 << 20))
    }
    return progress
  }

  private mutating func received(
    _ bytes: Data
  ) throws(TransferError) -> SignalProgress? {
    guard head != nil else { throw .invalidResponse(reason: "a body without a head") }
    guard bytes.count <= byteLimit - body.count else { throw .tooLarge(limit: byteLimit) }
    body.append(bytes)
    if let expected = framing.expected, body.count > expected {
      throw .invalidResponse(reason: "more than the \(expected) bytes of its Content-Length")
    }
    return progress
  }

  private var progress: SignalProgress {
    SignalProgress(completed: body.count, total: framing.expected)
  }
}

extension Validator {
  fileprivate init?(_ headers: HeaderFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if entityTag == nil && lastModified == nil { return nil }
  }
}
