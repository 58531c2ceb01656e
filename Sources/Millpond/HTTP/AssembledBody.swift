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
      // Under a lock, since the subscriber may leave while a part is received.
      let assembly = Locked<BodyAssembly?>(BodyAssembly(earlier))
      let take = { @Sendable in assembly.withLock { exchange(&$0, with: nil) } }
      let upstream = lifetime.child()
      upstream.onEnd {
        if let partial = take()?.partial { keep(partial) }
      }
      checked(limits, accepted, resuming: earlier?.resumePoint).run(
        Observer(
          next: { part in assembly.withLock { $0?.add(part) } },
          other: { event in
            switch event {
            case .progress: observer.other(event)
            case .failed(let error):
              // Before the failure is sent, so that a caller that tries again finds the bytes.
              if let partial = take()?.partial, error.leavesRest { keep(partial) }
              observer.other(event)
            case .completed:
              let answer = take()?.whole
              upstream.end()
              if let answer { observer.next(answer) }
              observer.other(event)
            }
          }), upstream)
    }
  }
}

/// A complete answer: its head, and its body with the validator.
struct WholeAnswer: Sendable {
  let head: HTTPHead
  let body: Stamped<Data>
}

/// The parts of an answer so far, which have been checked.
private struct BodyAssembly: Sendable {
  private let earlier: PartialBody?
  private var head: HTTPHead?
  private var bytes = Data()

  init(_ earlier: PartialBody?) {
    self.earlier = earlier
  }

  mutating func add(_ part: HTTPPart) {
    switch part {
    case .head(let head):
      self.head = head
      if let earlier, head.continued(earlier.resumePoint) != nil { bytes = earlier.bytes }
      // A header is only a claim: at most this much is reserved for it.
      bytes.reserveCapacity(min((try? BodyLength(head))?.expected ?? 0, 1 << 20))
    case .body(let piece): bytes.append(piece)
    }
  }

  var whole: WholeAnswer? {
    head.map { WholeAnswer(head: $0, body: $0.stamped(bytes, resuming: earlier?.resumePoint)) }
  }

  /// The bytes of an incomplete body, if the rest can be requested later, and they are more than
  /// before.
  var partial: PartialBody? {
    guard let version = head?.version(resuming: earlier?.resumePoint) else { return nil }
    let partial = PartialBody(bytes: bytes, version: version)
    return partial.resumePoint.isMiddle && partial != earlier ? partial : nil
  }
}
