import MillpondSignals

/// The answers that a caller takes, apart from the rest of a body that was requested.
struct AcceptedAnswers: Sendable {
  /// The statuses of answers; others are failures.
  var statuses = 200..<300

  /// Whether a part of a body (206) is an answer.
  var admitsParts = false

  /// Whether answers have bodies: not those to HEAD, whatever their heads say.
  var hasBody = true

  /// The answers to a get: the whole body.
  static func whole(_ request: HTTPRequest) -> AcceptedAnswers {
    AcceptedAnswers(hasBody: request.method != .head)
  }
}

/// A check that the parts of an answer are a complete one; it keeps no bytes.
struct ResponseChecker: Sendable {
  private let limits: HTTPLimits
  private let accepted: AcceptedAnswers

  /// The head of the answer, once it has arrived.
  private(set) var head: HTTPHead?
  private(set) var bodyLength = BodyLength.untilTheEnd
  private var count = 0

  init(_ limits: HTTPLimits, _ accepted: AcceptedAnswers = AcceptedAnswers()) {
    self.limits = limits
    self.accepted = accepted
  }

  var progress: SignalProgress { SignalProgress(completed: count, total: bodyLength.expected) }

  /// Receives a head; interim heads are skipped.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - earlier: The resume point, if the rest of a body was requested.
  mutating func receive(
    _ head: HTTPHead, resuming earlier: ResumePoint? = nil
  ) throws(TransferError) {
    try limits.check(head.headers)
    if head.isInterim { return }
    guard self.head == nil else { throw .invalidResponse(reason: "a second head") }
    if head.status == 206, let earlier {
      bodyLength = try BodyLength(head, resuming: earlier)
      count = earlier.byteCount
    } else if accepted.statuses.contains(head.status), head.status != 206 || accepted.admitsParts {
      bodyLength = try BodyLength(head, hasBody: accepted.hasBody)
    } else {
      throw .status(code: head.status, headers: head.headers)
    }
    self.head = head
    if let expected = bodyLength.expected, expected > limits.byteLimit {
      throw .tooLarge(limit: limits.byteLimit)
    }
  }

  /// Counts bytes of the body; the caller may keep them if this does not throw.
  mutating func receive(byteCount: Int) throws(TransferError) {
    guard head != nil else { throw .invalidResponse(reason: "a body without a head") }
    guard byteCount <= limits.byteLimit - count else { throw .tooLarge(limit: limits.byteLimit) }
    count += byteCount
    if let expected = bodyLength.expected, count > expected {
      throw .invalidResponse(reason: "more than the \(expected) bytes of its Content-Length")
    }
  }

  /// Returns the head of the answer if it is complete.
  func finished() throws(TransferError) -> HTTPHead {
    guard let head else { throw .invalidResponse(reason: "no head") }
    try bodyLength.check(received: count)
    return head
  }
}
