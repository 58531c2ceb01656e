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

extension Signal<HTTPPart> {
  /// Passes on the parts of a complete answer without interim heads; fails, after the upstream has
  /// ended, where they are none.
  ///
  /// Progress counts the bytes of the request's body, and then, from the head on, those of the
  /// answer.
  ///
  /// - Parameters:
  ///   - limits: The limits on the answer.
  ///   - accepted: The answers that the caller takes.
  ///   - earlier: The resume point, if the rest of a body was requested.
  func checked(
    _ limits: HTTPLimits, _ accepted: AcceptedAnswers, resuming earlier: ResumePoint?
  ) -> Signal {
    Signal { observer, lifetime in
      let upstream = lifetime.child()
      let checker = SerialState(ResponseChecker(limits, accepted, resuming: earlier))
      let end = { @Sendable (event: Event<Never>) in
        upstream.end()
        observer.other(event)
      }
      run(
        Observer(
          next: { part in
            if upstream.isEnded { return }
            do throws(TransferError) {
              if try checker.value.passes(part) { observer.next(part) }
              if !upstream.isEnded { observer.progress(checker.value.progress) }
            } catch {
              end(.failed(error))
            }
          },
          other: { event in
            if upstream.isEnded { return }
            switch event {
            case .progress:
              if checker.value.head == nil { observer.other(event) }
            case .failed: end(event)
            case .completed:
              do throws(TransferError) {
                try checker.value.finish()
                end(.completed)
              } catch {
                end(.failed(error))
              }
            }
          }), upstream)
    }
  }
}

/// A check that the parts of an answer are a complete one; it keeps no bytes.
struct ResponseChecker: Sendable {
  private let limits: HTTPLimits
  private let accepted: AcceptedAnswers
  private let earlier: ResumePoint?

  /// The head of the answer, once it has arrived.
  private(set) var head: HTTPHead?
  private var bodyLength = BodyLength.untilTheEnd
  private var count = 0

  init(
    _ limits: HTTPLimits, _ accepted: AcceptedAnswers = AcceptedAnswers(),
    resuming earlier: ResumePoint? = nil
  ) {
    self.limits = limits
    self.accepted = accepted
    self.earlier = earlier
  }

  var progress: SignalProgress { SignalProgress(completed: count, total: bodyLength.expected) }

  /// Receives a part; returns false for an interim head, which is no part of the answer.
  mutating func passes(_ part: HTTPPart) throws(TransferError) -> Bool {
    switch part {
    case .head(let head):
      try limits.check(head.headers)
      if head.isInterim { return false }
      try receive(head)
    case .body(let bytes): try receive(byteCount: bytes.count)
    }
    return true
  }

  private mutating func receive(_ head: HTTPHead) throws(TransferError) {
    guard self.head == nil else { throw .invalidResponse(reason: "a second head") }
    if let earlier = head.continued(earlier) {
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

  private mutating func receive(byteCount: Int) throws(TransferError) {
    guard head != nil else { throw .invalidResponse(reason: "a body without a head") }
    guard byteCount <= limits.byteLimit - count else { throw .tooLarge(limit: limits.byteLimit) }
    count += byteCount
    if let expected = bodyLength.expected, count > expected {
      throw .invalidResponse(reason: "more than the \(expected) bytes of its Content-Length")
    }
  }

  /// Checks that the answer is complete.
  func finish() throws(TransferError) {
    if head == nil { throw .invalidResponse(reason: "no head") }
    try bodyLength.check(received: count)
  }
}
