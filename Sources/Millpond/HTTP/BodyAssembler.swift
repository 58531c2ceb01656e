import Foundation
import MillpondCore
import MillpondSignals

extension Signal<HTTPPart> {
  /// Assembles all parts into one value if they are a complete answer; cancels the upstream once
  /// they can't be.
  ///
  /// - Parameters:
  ///   - limits: The limits on the answer.
  ///   - accepted: The answers that the caller takes.
  ///   - earlier: The bytes from an earlier transfer, if the rest was requested.
  ///   - keep: Receives the bytes of an incomplete body whose rest can be requested later, also
  ///     when the subscriber leaves. Runs on the thread of the end.
  func assembled(
    _ limits: HTTPLimits, _ accepted: AcceptedAnswers = AcceptedAnswers(),
    resuming earlier: PartialBody? = nil,
    keep: @escaping @Sendable (PartialBody) -> Void = { _ in }
  ) -> Signal<WholeAnswer> {
    Signal<WholeAnswer> { observer, lifetime in
      let assembler = BodyAssembler(limits, accepted, resuming: earlier)
      let assembly = BodyAssembly(observer, lifetime.child(), assembler, keep: keep)
      assembly.upstream.onEnd { assembly.leave() }
      run(assembly.observer, assembly.upstream)
    }
  }
}

/// A complete answer: its head, and its body with the validator.
struct WholeAnswer: Sendable {
  let head: HTTPHead
  let body: Stamped<Data>
}

/// An assembler under a lock, since the subscriber may leave while a part is received.
private final class BodyAssembly: Sendable {
  let upstream: Lifetime
  private let downstream: Observer<WholeAnswer>
  private let keep: @Sendable (PartialBody) -> Void

  private let assembler: Locked<BodyAssembler?>

  init(
    _ downstream: Observer<WholeAnswer>, _ upstream: Lifetime, _ assembler: BodyAssembler,
    keep: @escaping @Sendable (PartialBody) -> Void
  ) {
    self.downstream = downstream
    self.upstream = upstream
    self.assembler = Locked(assembler)
    self.keep = keep
  }

  var observer: Observer<HTTPPart> {
    Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  /// Stops the assembler, if it still runs, and keeps its bytes.
  func leave() {
    if let partial = take()?.broken { keep(partial) }
  }

  private func receive(_ part: HTTPPart) {
    let result = assembler.withLock { assembler in
      Result { () throws(TransferError) in try assembler?.received(part) }
    }
    switch result {
    case .success(let progress?): downstream.progress(progress)
    case .success(nil): break
    case .failure(let error): fail(error)
    }
  }

  private func receive(_ event: Event<Never>) {
    switch event {
    case .progress(let progress):
      // Of the request's body; once there is a head, the bytes say it.
      if assembler.withLock({ $0?.hasHead == false }) { downstream.progress(progress) }
    case .failed(let error): fail(error)
    case .completed: finish()
    }
  }

  private func finish() {
    let result = assembler.withLock { assembler in
      Result { () throws(TransferError) in try assembler?.finished() }
    }
    switch result {
    case .success(let answer?):
      _ = take()
      upstream.end()
      downstream.next(answer)
      downstream.completed()
    case .success(nil): break
    case .failure(let error): fail(error)
    }
  }

  private func fail(_ error: any Error) {
    guard let assembler = take() else { return }
    upstream.end()
    // Before the failure is sent, so that a caller that tries again finds the bytes.
    if error.leavesRest, let partial = assembler.broken { keep(partial) }
    downstream.failed(error)
  }

  private func take() -> BodyAssembler? {
    assembler.withLock { exchange(&$0, with: nil) }
  }
}

/// A body under assembly, and the checks that it is complete.
struct BodyAssembler: Sendable {
  private var checker: ResponseChecker
  private let earlier: PartialBody?
  private var body = Data()

  /// Creates an assembler.
  ///
  /// - Parameters:
  ///   - limits: The limits on the answer.
  ///   - accepted: The answers that the caller takes.
  ///   - earlier: The bytes from an earlier transfer, if the rest was requested.
  init(
    _ limits: HTTPLimits, _ accepted: AcceptedAnswers = AcceptedAnswers(),
    resuming earlier: PartialBody? = nil
  ) {
    checker = ResponseChecker(limits, accepted)
    self.earlier = earlier
  }

  /// Receives a part.
  ///
  /// - Returns: The progress of the answer.
  mutating func received(_ part: HTTPPart) throws(TransferError) -> SignalProgress {
    switch part {
    case .head(let head):
      try checker.receive(head, resuming: earlier?.resumePoint)
      if let earlier, head.status == 206 { body = earlier.bytes }
      // A header is only a claim: at most this much is reserved for it.
      body.reserveCapacity(min(checker.bodyLength.expected ?? 0, 1 << 20))
    case .body(let bytes):
      try checker.receive(byteCount: bytes.count)
      body.append(bytes)
    }
    return checker.progress
  }

  /// Returns the answer if it is complete, and hands over its bytes.
  mutating func finished() throws(TransferError) -> WholeAnswer {
    let head = try checker.finished()
    // The head of a continuation may lack fields of the first head.
    let continued = head.status == 206 ? earlier?.version.validator : nil
    return WholeAnswer(
      head: head,
      body: head.stamped(
        exchange(&body, with: Data()), continued ?? Validator(head.headers)))
  }

  var hasHead: Bool { checker.head != nil }

  /// The bytes so far, if the rest can be requested later.
  var broken: PartialBody? {
    guard let head = checker.head, checker.bodyLength.canBeResumed, !body.isEmpty else {
      return nil
    }
    if checker.bodyLength.expected == body.count { return nil }
    guard let earlier, head.status == 206 else { return PartialBody(head, body) }
    return body.count > earlier.bytes.count
      ? PartialBody(bytes: body, version: earlier.version) : nil
  }
}

extension Validator {
  init?(_ headers: HeaderFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if isEmpty { return nil }
  }
}
