import MillpondSignals

/// Says of the parts of an answer whether they are one; keeps none of its bytes.
struct ResponseChecker: Sendable {
  private let limits: HTTPLimits

  /// The head of the answer, once it is there.
  private(set) var head: HTTPHead?
  private(set) var framing = Framing.untilTheEnd
  private var count = 0

  init(_ limits: HTTPLimits) {
    self.limits = limits
  }

  var progress: SignalProgress { SignalProgress(completed: count, total: framing.expected) }

  /// Takes a head in; those that come before the answer's are passed over.
  ///
  /// - Parameter earlier: What is there of the body, if the rest was asked for.
  mutating func receive(
    _ head: HTTPHead, resuming earlier: ResumePoint? = nil
  ) throws(TransferError) {
    try limits.check(head.headers)
    if head.isInterim { return }
    guard self.head == nil else { throw .invalidResponse(reason: "a second head") }
    if head.status == 206, let earlier {
      framing = try Framing(head, resuming: earlier)
      count = earlier.byteCount
    } else if (200..<300).contains(head.status), head.status != 206 {
      framing = try Framing(head)
    } else {
      throw .status(code: head.status, headers: head.headers)
    }
    self.head = head
    if let expected = framing.expected, expected > limits.byteLimit {
      throw .tooLarge(limit: limits.byteLimit)
    }
  }

  /// Takes bytes in; they may be kept if this doesn't throw.
  mutating func receive(byteCount: Int) throws(TransferError) {
    guard head != nil else { throw .invalidResponse(reason: "a body without a head") }
    guard byteCount <= limits.byteLimit - count else { throw .tooLarge(limit: limits.byteLimit) }
    count += byteCount
    if let expected = framing.expected, count > expected {
      throw .invalidResponse(reason: "more than the \(expected) bytes of its Content-Length")
    }
  }

  /// The head of the answer, if that is complete.
  func finished() throws(TransferError) -> HTTPHead {
    guard let head else { throw .invalidResponse(reason: "no head") }
    try framing.check(received: count)
    return head
  }
}
