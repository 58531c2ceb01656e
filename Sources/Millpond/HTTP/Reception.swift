import Foundation
import MillpondCore
import MillpondSignals

/// Puts an answer together, and says whether it is one.
struct Reception: Sendable {
  private var tally: Tally
  private let earlier: PartialBody?
  private var body = Data()

  /// - Parameter earlier: What is there of the body, if the rest was asked for.
  init(_ limits: HTTPLimits, resuming earlier: PartialBody? = nil) {
    tally = Tally(limits)
    self.earlier = earlier
  }

  /// Takes a part in.
  ///
  /// - Returns: How far the answer has come.
  mutating func received(_ part: HTTPPart) throws(TransferError) -> SignalProgress {
    switch part {
    case .head(let head):
      try tally.receive(head, resuming: earlier?.beginning)
      if let earlier, head.status == 206 { body = earlier.bytes }
      // A header is only a claim: no more than this is reserved for it.
      body.reserveCapacity(min(tally.framing.expected ?? 0, 1 << 20))
    case .body(let bytes):
      try tally.receive(byteCount: bytes.count)
      body.append(bytes)
    }
    return tally.progress
  }

  /// The answer, if it is complete; its bytes are given away.
  mutating func finished() throws(TransferError) -> Stamped<Data> {
    let head = try tally.finished()
    defer { body = Data() }
    // The head of a rest may leave out what the first one said.
    let continued = head.status == 206 ? earlier?.edition.validator : nil
    return Stamped(body, validator: continued ?? Validator(head.headers))
  }

  /// The bytes so far, if the rest can be asked for later.
  var broken: PartialBody? {
    guard let head = tally.head, tally.framing.canBeResumed, !body.isEmpty else { return nil }
    if tally.framing.expected == body.count { return nil }
    guard let earlier, head.status == 206 else { return PartialBody(head, body) }
    return body.count > earlier.bytes.count ? earlier.grown(to: body) : nil
  }
}

extension Validator {
  init?(_ headers: HeaderFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if entityTag == nil && lastModified == nil { return nil }
  }
}
